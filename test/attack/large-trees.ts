import { gitWith } from '../helpers/trees.js'
import { git } from '../scenarios/client.js'
import type { Attack } from './support/attack.js'

const LEVELS = 1500
const DEEP = 'd/'.repeat(LEVELS)

/** A folder of many files. The time of `git fast-import` for it grows with the square of their number. */
const wideTree = (folder: string, blob: string, files: number) =>
  gitWith(
    folder,
    ['mktree'],
    Array.from({ length: files }, (_, at) => `100644 blob ${blob}\t${String(at).padStart(7, '0')}\n`).join('')
  )

/** Two commits: a folder of many files, and then one more file in it and another file below many folders. */
function makeHistory(folder: string, files: number): void {
  const blob = gitWith(folder, ['hash-object', '-w', '--stdin'], 'x\n')
  const commit = (at: number) => `commit refs/heads/master\ncommitter A <a@example.org> 160000000${at} +0000\ndata 0\n`
  const [before, after] = [wideTree(folder, blob, files), wideTree(folder, blob, files + 1)]
  const history = `${commit(0)}M 040000 ${before} wide\n\n${commit(1)}M 040000 ${after} wide\nM 100644 ${blob} ${DEEP}file\n`
  gitWith(folder, ['fast-import', '--quiet'], history)
}

export const attack: Attack = {
  name: 'large-trees',
  about: 'a folder of a million files and a file below 1,500 folders are read, changed and compared in every way',
  limit: { memory: 512, seconds: 120, statuses: [200, 201, 413] },
  run: async stand => {
    const files = stand.short ? 20_000 : 1_000_000
    const { id, remote } = await stand.project()
    const folder = stand.folder()
    await git(folder, ['init', '--quiet', '--bare', '--initial-branch=master'])
    makeHistory(folder, files)
    await git(folder, ['push', '--quiet', remote, 'master'])
    const last = `wide/${String(files - 1).padStart(7, '0')}`
    const reads = [
      'tree?path=wide',
      'tree?recursive=true',
      `tree?path=${DEEP.slice(0, -1)}`,
      `files?ref=master&file_path=${last}`,
      `blobs/master?filepath=${DEEP}file`,
      `commits?path=${last}`,
      'commits/master',
      'commits/master/diff',
      'compare?from=master&to=master',
      'contributors'
    ]
    const statuses: number[] = []
    for (const path of reads) {
      const { status, bytes } = await stand.ask('GET', `/projects/${id}/repository/${path}`)
      if (bytes.length > 17 * 1_048_576) throw new Error(`${path} is an answer of ${bytes.length} bytes`)
      statuses.push(status)
    }
    const file = { file_path: 'wide/new', branch_name: 'master', content: 'new', commit_message: 'one more' }
    statuses.push((await stand.ask('POST', `/projects/${id}/repository/files`, file)).status)
    await git(stand.folder(), ['clone', '--quiet', '--bare', remote])
    return statuses
  }
}
