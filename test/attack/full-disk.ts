import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gitWith } from '../helpers/trees.js'
import { until } from '../helpers/until.js'
import { git, tryGit } from '../scenarios/client.js'
import type { Attack, Stand } from './support/attack.js'

export const attack: Attack = {
  name: 'full-disk',
  about:
    'the disk of repositories, pushes or artifacts is full: no half-done changes, reads still work, and free space ends all faults',
  limit: { memory: 192, seconds: 60, statuses: [200, 201, 503, 507] },
  run: async stand => {
    const probe = stand.folder()
    if (!cover(probe)) {
      process.stdout.write('  full-disk: this machine allows no mount, so the attack was skipped\n')
      return [201]
    }
    uncover(probe)
    const { id, remote } = await stand.project()
    await commit(stand, 'POST', id, 'before')
    const target = { id, remote, clone: join(stand.folder(), 'clone') }
    await git(stand.home, ['clone', '--quiet', remote, target.clone])
    return [
      ...(await newProjects(stand)),
      ...(await oneRepository(stand, target)),
      ...(await largePush(stand, target)),
      ...(await artifacts(stand, target)),
      await commit(stand, 'POST', id, 'after')
    ]
  }
}

interface Target {
  readonly id: number
  readonly remote: string
  readonly clone: string
}

/** No new project is stored while the disk of the repositories is full. */
async function newProjects(stand: Stand): Promise<number[]> {
  return await covered(join(stand.home, 'repositories'), async ({ empty }) => {
    const refused = await stand.ask('POST', '/projects', { name: 'never-made' })
    check(refused.status === 507, `a project on a full disk: ${refused.status}`)
    const listed = await stand.ask<unknown[]>('GET', '/projects?search=never-made')
    check(listed.json.length === 0, 'the project was kept')
    empty()
    return [refused.status, listed.status, (await stand.ask('POST', '/projects', { name: 'never-made' })).status]
  })
}

/** The repository is on a full disk: writes and pushes change nothing, and reads and clones still work. */
async function oneRepository(stand: Stand, { id, remote, clone }: Target): Promise<number[]> {
  const repository = repositoryOf(stand, id)
  const copy = join(stand.folder(), 'repository')
  cpSync(repository, copy, { recursive: true })
  const statuses = await covered(repository, async ({ fill, empty }) => {
    empty()
    cpSync(copy, repository, { recursive: true })
    fill()
    const head = await headOf(stand, id)
    const names = () => readdirSync(join(repository, 'objects'), { recursive: true, encoding: 'utf8' })
    // The commit-graph of the earlier commits may be written in the meantime.
    const objects = () => names().filter(name => !name.startsWith('info/commit-graphs'))
    const files = objects().length
    const writes = [
      await commit(stand, 'POST', id, 'new'),
      await commit(stand, 'PUT', id, 'before'),
      await commit(stand, 'DELETE', id, 'before')
    ]
    check(
      writes.every(status => status === 507),
      `writes of files on a full disk: ${writes}`
    )
    const refused = await push(clone, remote, 100_000)
    check(!refused.ok && /No space left on device|disk is full/.test(refused.stderr), `the push: ${refused.stderr}`)
    check((await headOf(stand, id)) === head, 'the branch has moved')
    const left = objects()
    check(left.length <= files && !left.some(name => /tmp_/.test(name)), `left behind: ${left}`)
    await until('a commit-graph leaves no draft behind', () => !names().some(name => /tmp_/.test(name)))
    const reads = await readAll(stand, id)
    await git(stand.home, ['clone', '--quiet', remote, join(stand.folder(), 'again')])
    empty()
    const healed = [await commit(stand, 'PUT', id, 'before'), await commit(stand, 'DELETE', id, 'before')]
    healed.push(await commit(stand, 'POST', id, 'before'))
    gitWith(repository, ['fsck', '--full', '--strict'])
    rmSync(copy, { recursive: true })
    cpSync(repository, copy, { recursive: true })
    return [...writes, ...reads, ...healed]
  })
  // The repository now has the version that was written when there was space again.
  rmSync(repository, { recursive: true })
  cpSync(copy, repository, { recursive: true })
  return statuses
}

/** A push that is too large for memory waits in HOME/tmp. */
async function largePush(stand: Stand, { id, remote, clone }: Target): Promise<number[]> {
  const follow = async () => {
    await git(clone, ['fetch', '--quiet', remote, 'master'])
    await git(clone, ['reset', '--quiet', '--hard', 'FETCH_HEAD'])
  }
  await follow()
  const head = await headOf(stand, id)
  await covered(join(stand.home, 'tmp'), async () => {
    const refused = await push(clone, remote, 400_000)
    check(!refused.ok && /50[37]/.test(refused.stderr), `the push without space to wait: ${refused.stderr}`)
  })
  check((await headOf(stand, id)) === head, 'the branch has moved')
  await follow()
  const accepted = await push(clone, remote, 400_000)
  check(accepted.ok, `the push with space again: ${accepted.stderr}`)
  return []
}

/** A build fails with a message when there is no space for its artifacts. */
async function artifacts(stand: Stand, { id }: Target): Promise<number[]> {
  const build = { script: 'head -c 200000 /dev/urandom >result', artifacts: { paths: ['result'] } }
  const last = (than: number) =>
    until('a build has ended', async () => {
      await sleep(100)
      const { json } = await stand.ask<{ id: number; status: string }[]>('GET', `/projects/${id}/builds`)
      const [newest] = json
      return newest && newest.id > than && ['success', 'failed'].includes(newest.status) ? newest : undefined
    })
  const failed = await covered(join(stand.home, 'artifacts'), async () => {
    await commit(stand, 'POST', id, '.gitstead-ci.yml', JSON.stringify({ build }))
    return await last(0)
  })
  const trace = (await stand.ask('GET', `/projects/${id}/builds/${failed.id}/trace`)).bytes.toString()
  check(failed.status === 'failed' && /the disk is full/.test(trace), `${failed.status}, with the trace ${trace}`)
  await commit(stand, 'POST', id, 'next')
  const next = await last(failed.id)
  check(next.status === 'success', `the build with space again: ${next.status}`)
  return [(await stand.ask('GET', `/projects/${id}/builds/${next.id}/artifacts`)).status]
}

const repositoryOf = (stand: Stand, id: number) => {
  const hash = createHash('sha256').update(String(id)).digest('hex')
  return join(stand.home, 'repositories/default', hash.slice(0, 2), hash.slice(2, 4), `${hash}.git`)
}

async function headOf(stand: Stand, id: number): Promise<string> {
  return (await stand.ask<{ id: string }>('GET', `/projects/${id}/repository/commits/master`)).json.id
}

async function readAll(stand: Stand, id: number): Promise<number[]> {
  const paths = ['tree', 'files?file_path=before&ref=master', 'blobs/master?filepath=before', 'commits/master']
  const answers = await Promise.all(paths.map(path => stand.ask('GET', `/projects/${id}/repository/${path}`)))
  check(
    answers.every(({ status }) => status === 200),
    `reads on a full disk: ${answers.map(({ status }) => status)}`
  )
  return answers.map(({ status }) => status)
}

async function commit(stand: Stand, method: string, id: number, name: string, text?: string): Promise<number> {
  const content = text ?? randomBytes(5000).toString('hex')
  const body = { file_path: name, branch_name: 'master', commit_message: name, content }
  const query = method === 'DELETE' ? `?${new URLSearchParams(body)}` : ''
  const path = `/projects/${id}/repository/files${query}`
  return (await stand.ask(method, path, method === 'DELETE' ? undefined : body)).status
}

/** Commits this many random bytes in a clone, and pushes them. */
async function push(clone: string, remote: string, bytes: number) {
  writeFileSync(join(clone, 'large'), randomBytes(bytes))
  gitWith(clone, ['add', '.'])
  gitWith(clone, ['commit', '--quiet', '-m', 'large'])
  return await tryGit(clone, ['push', '--quiet', remote, 'HEAD:refs/heads/master'])
}

interface Disk {
  fill(): void
  /** Frees the space again. */
  empty(): void
}

/** Puts a small and full disk in the place of a folder while `work` runs. */
async function covered<T>(folder: string, work: (disk: Disk) => Promise<T>): Promise<T> {
  mkdirSync(folder, { recursive: true })
  check(cover(folder), `${folder} cannot be covered`)
  const filler = join(folder, 'filler')
  const disk = {
    fill: () => {
      const { bavail, bsize } = statfsSync(folder)
      writeFileSync(filler, Buffer.alloc(bavail * bsize))
    },
    empty: () => rmSync(filler)
  }
  try {
    disk.fill()
    return await work(disk)
  } finally {
    uncover(folder)
    check(!existsSync(filler), `${folder} is still covered`)
  }
}

/** Puts a small file system over a folder. Returns false where that is not allowed. */
function cover(folder: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'none', folder]).status === 0
}

const uncover = (folder: string) => spawnSync('umount', ['--lazy', folder])

function check(right: boolean, text: string): void {
  if (!right) throw new Error(text)
}
