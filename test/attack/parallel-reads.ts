import { setTimeout as sleep } from 'node:timers/promises'
import { gitWith } from '../helpers/trees.js'
import { git } from '../scenarios/client.js'
import type { Attack, Stand } from './support/attack.js'

const OTHER = { 'x-forwarded-for': '192.0.2.7' }
/** Milliseconds that another address may wait. A test run shares its machine. */
const PATIENCE = { long: 1000, short: 10_000 }

export const attack: Attack = {
  name: 'parallel-reads',
  about:
    'one address requests 20,000 files, database searches and the API document a hundred times at once, while another reads',
  limit: { memory: 384, seconds: 60, statuses: [200, 429, 503] },
  run: async stand => {
    const { id, remote } = await stand.project()
    await pushFolders(stand, remote)
    const statuses: number[] = []
    const tree = `projects/${id}/repository/tree?recursive=true`
    for (const path of [tree, 'projects/all?search=x', 'users?search=x', 'openapi.json']) {
      statuses.push(...(await readNextTo(stand, path)))
    }
    return statuses
  }
}

/** Two hundred folders of a hundred files each. */
async function pushFolders(stand: Stand, remote: string): Promise<void> {
  const folder = stand.folder()
  await git(folder, ['init', '--quiet', '--bare', '--initial-branch=master'])
  const blob = gitWith(folder, ['hash-object', '-w', '--stdin'], 'x\n')
  const names = Array.from({ length: 100 }, (_, at) => `100644 blob ${blob}\tfile-${at}\n`)
  const files = gitWith(folder, ['mktree'], names.join(''))
  const folders = Array.from({ length: 200 }, (_, at) => `040000 tree ${files}\tfolder-${at}\n`)
  const tree = gitWith(folder, ['mktree'], folders.join(''))
  const commit = gitWith(folder, ['commit-tree', '-m', 'many files', tree])
  await git(folder, ['update-ref', 'refs/heads/master', commit])
  await git(folder, ['push', '--quiet', remote, 'master'])
}

/** Returns the statuses of the attacker while another address reads. */
async function readNextTo(stand: Stand, path: string): Promise<number[]> {
  const ended = new AbortController()
  const attackers = Array.from({ length: stand.short ? 40 : 100 }, () => askUntil(ended.signal, stand, path))
  const [statuses] = await Promise.all([Promise.all(attackers), readAsOther(stand, path).finally(() => ended.abort())])
  return statuses.flat()
}

async function askUntil(signal: AbortSignal, { url, token }: Stand, path: string): Promise<number[]> {
  const statuses: number[] = []
  while (!signal.aborted) {
    const answer = await fetch(`${url}/api/v3/${path}`, { headers: { 'private-token': token } })
    await answer.arrayBuffer()
    statuses.push(answer.status)
  }
  return statuses
}

async function readAsOther({ url, token, short, patience }: Stand, path: string): Promise<void> {
  for (let asked = 0; asked < (short ? 10 : 50); asked++) {
    await sleep(100)
    const { status } = await fetch(`${url}/api/v3/user`, {
      headers: { ...OTHER, 'private-token': token },
      signal: AbortSignal.timeout(patience(short ? PATIENCE.short : PATIENCE.long))
    })
    if (status !== 200) throw new Error(`another address gets ${status} during ${path}`)
  }
}
