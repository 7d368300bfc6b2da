// Locks of git processes that were killed, and of processes that are still running.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runGit } from '../../../src/git/process/run.js'
import { LEAST_AGE_MS, removeStaleLocks, staleLocks } from '../../../src/git/repository/stale-locks.js'
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

/** Creates a lock, an hour old, as a process does that is killed a moment later. */
function makeLock(repository: string, name: string, madeAt = new Date(Date.now() - 3_600_000)): string {
  const path = join(repository, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, '')
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
  const held = makeLock(repository, 'refs/heads/x.lock', new Date())
  t.same(await staleLocks(repository, undefined, 0), [old])
  writer.kill()
  await new Promise(resolve => writer.once('exit', resolve))
  t.same((await staleLocks(repository, undefined, 0)).sort(), [old, held].sort())
})

t.test('a young lock stays, because a server that locks refs without git may hold it', async t => {
  const repository = await repositoryWith(t)
  const lock = makeLock(repository, 'refs/heads/master.lock', new Date())
  t.same(await removeStaleLocks(repository), [])
  t.ok(existsSync(lock))
  makeLock(repository, 'refs/heads/master.lock', new Date(Date.now() - LEAST_AGE_MS))
  t.same(await removeStaleLocks(repository), [lock])
})
