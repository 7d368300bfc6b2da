// Locks of git processes that were killed, and of processes that are still running.
import { spawn } from 'node:child_process'
import { existsSync, lutimesSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runGit } from '../../../src/git/process/run.js'
import { lockOwner } from '../../../src/git/refs/lock-owner.js'
import { LEAST_AGE_MS, mayBeStale, removeStaleLocks, staleLocks } from '../../../src/git/repository/stale-locks.js'
import { bootName } from '../../../src/lib/boot.js'
import { nap, sleeperOf } from '../../helpers/naps.js'
import t from '../../helpers/tap.js'
import { git, repositoryWith } from '../history.js'

const LOCKS = [
  'HEAD.lock',
  'packed-refs.lock',
  'packed-refs.new',
  'refs/heads/a/b.lock',
  'objects/info/commit-graph.lock'
]

const ID = `${'0'.repeat(40)}\n`

/** Creates a lock, an hour old, as a process does that is killed a moment later. Git writes the new value into that of a ref. */
function makeLock(repository: string, name: string, madeAt = new Date(Date.now() - 3_600_000), text = ''): string {
  const path = join(repository, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
  utimesSync(path, madeAt, madeAt)
  return path
}

t.test('locks of dead processes are found and removed, and git works again', async t => {
  const repository = await repositoryWith(t, 20)
  const head = git(repository, ['rev-parse', 'master'])
  const paths = [...LOCKS, 'refs/heads/master.lock'].map(name => makeLock(repository, name))
  await t.rejects(runGit(['update-ref', 'refs/heads/master', head, head], { repository }), { message: /File exists/ })
  t.same((await staleLocks(repository)).sort(), [...paths].sort())
  const hoursAgo = Date.now() - 7_200_000
  const objects = paths.filter(path => path.includes('/objects/'))
  t.same(
    await staleLocks(repository, { refs: hoursAgo, objects: Date.now() }),
    objects,
    'only locks that are old enough'
  )
  t.same(await staleLocks(repository, { refs: hoursAgo, objects: hoursAgo }), [])
  t.same((await removeStaleLocks(repository)).sort(), [...paths].sort())
  await runGit(['update-ref', 'refs/heads/master', head, head], { repository })
  await runGit(['pack-refs', '--all'], { repository })
  t.same(await staleLocks(repository), [])
  t.same(await removeStaleLocks(join(repository, 'nowhere')), [])
})

t.test('a lock that appears after the search began stays', async t => {
  const repository = await repositoryWith(t)
  const old = makeLock(repository, 'HEAD.lock')
  const late = () => makeLock(repository, 'packed-refs.lock')
  const horizon = async () => {
    late()
    return { refs: Number.POSITIVE_INFINITY, objects: Number.POSITIVE_INFINITY }
  }
  t.same(await removeStaleLocks(repository, horizon), [old])
  t.ok(existsSync(join(repository, 'packed-refs.lock')))
})

t.test('a lock stays while a process that may hold it is running', async t => {
  const repository = await repositoryWith(t)
  const writer = spawn('sleep', [nap(7)], { cwd: repository, stdio: 'ignore' })
  t.teardown(() => writer.kill())
  await sleeperOf(7)
  const old = makeLock(repository, 'HEAD.lock')
  const held = makeLock(repository, 'refs/heads/x.lock', new Date(Date.now() - 1500), ID)
  t.same(await staleLocks(repository), [old])
  t.equal(await mayBeStale(repository), true)
  writer.kill()
  await new Promise(resolve => writer.once('exit', resolve))
  t.same((await staleLocks(repository)).sort(), [old, held].sort())
})

t.test('a lock of git is stale after a second, and one that an earlier version may hold after ten', async t => {
  const repository = await repositoryWith(t)
  const ago = (ms: number) => new Date(Date.now() - ms)
  const lock = makeLock(repository, 'refs/heads/x.lock', new Date(), ID)
  t.same(await removeStaleLocks(repository), [])
  t.equal(await mayBeStale(repository), true)
  makeLock(repository, 'refs/heads/x.lock', ago(1500), ID)
  const [packed, draft] = ['packed-refs.lock', `${'0a'.repeat(8)}.lock`].map(name =>
    makeLock(repository, name, ago(1500))
  )
  const empty = makeLock(repository, 'refs/heads/y.lock', ago(1500))
  t.same((await removeStaleLocks(repository)).sort(), [packed, lock].sort())
  t.equal(await mayBeStale(repository), true, 'the empty one')
  makeLock(repository, 'refs/heads/y.lock', ago(LEAST_AGE_MS))
  t.same(await removeStaleLocks(repository), [empty])
  t.equal(await mayBeStale(repository), false, 'a draft blocks nothing')
  makeLock(repository, `${'0a'.repeat(8)}.lock`, ago(LEAST_AGE_MS))
  t.same(await removeStaleLocks(repository), [draft])
})

t.test('a lock that names its process is stale as soon as that process is gone', async t => {
  const repository = await repositoryWith(t, 20)
  const head = git(repository, ['rev-parse', 'master'])
  const lock = join(repository, 'refs/heads/master.lock')
  const hold = (owner: string) => symlinkSync(owner, lock)
  hold(lockOwner())
  t.same(await removeStaleLocks(repository), [], 'this process runs')
  t.equal(await mayBeStale(repository), false)
  await t.rejects(runGit(['update-ref', 'refs/heads/master', head, head], { repository }), { message: /File exists/ })
  rmSync(lock)
  hold('another boot/pid:[1]#1#1')
  t.same(await removeStaleLocks(repository), [], 'nobody sees the processes of another machine')
  t.equal(await mayBeStale(repository), true)
  lutimesSync(lock, 0, Date.now() / 1000 - LEAST_AGE_MS / 1000)
  t.same(await removeStaleLocks(repository), [lock], 'until it is old')
  hold(`${bootName()}#${process.pid}#1`)
  t.same(await removeStaleLocks(repository, { refs: 0, objects: 0 }), [lock], 'a later process has the same pid')
  await runGit(['update-ref', 'refs/heads/master', head, head], { repository })
})
