import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { git } from '../scenarios/client.js'
import type { Attack, Stand } from './support/attack.js'

/** The input of `git fast-import`: many files of long names in ten folders, by a commit whose message has megabytes. */
function* history(files: number, message: number) {
  yield 'blob\nmark :1\ndata 0\n\n'
  yield 'commit refs/heads/master\ncommitter A <a@example.org> 1600000000 +0000\n'
  yield `data ${message}\n${'m'.repeat(message)}\n`
  for (let at = 0; at < files; at++) {
    yield `M 100644 :1 folder-${at % 10}/${String(at).padStart(7, '0')}${'n'.repeat(240)}\n`
  }
}

async function pushed(stand: Stand): Promise<number> {
  const { id, remote } = await stand.project()
  const folder = stand.folder()
  await git(folder, ['init', '--quiet', '--bare'])
  const child = spawn('git', ['fast-import', '--quiet'], { cwd: folder, stdio: ['pipe', 'ignore', 'ignore'] })
  Readable.from(history(stand.short ? 20_000 : 100_000, 10_000_000)).pipe(child.stdin)
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`)
  await git(folder, ['push', '--quiet', remote, 'refs/heads/master'])
  return id
}

export const attack: Attack = {
  name: 'large-answers',
  about:
    'a folder of 100,000 long names and a commit with a message of 10 MB are read in every way, four times at once',
  limit: { memory: 384, seconds: 120, statuses: [200] },
  run: async stand => {
    const id = await pushed(stand)
    const paths = ['tree?recursive=true', 'tree?path=folder-1', 'commits/master', 'tree']
    const statuses: number[] = []
    for (const path of paths) {
      const url = `${stand.url}/api/v3/projects/${id}/repository/${path}`
      const answers = await Promise.all(
        Array.from({ length: 4 }, () => fetch(url, { headers: { 'private-token': stand.token } }))
      )
      for (const answer of answers) {
        const { byteLength } = await answer.arrayBuffer()
        if (byteLength > 17 * 1024 * 1024) throw new Error(`${path} is an answer of ${byteLength} bytes`)
        statuses.push(answer.status)
      }
    }
    return statuses
  }
}
