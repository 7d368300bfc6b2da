// A process ends between its intent and its answer: recovery finds out from the repository whether git made the change.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { settleOpenChanges } from '../../../../src/areas/code/refs/recovery.js'
import {
  abandonChanges,
  type OpenChange,
  openChanges,
  type RefMove,
  settleChanges
} from '../../../../src/areas/code/refs/ref-changes.js'
import { ensureRepository } from '../../../../src/areas/projects/projects/repositories.js'
import { machine } from '../../../../src/cluster/this-machine.js'
import { config } from '../../../../src/config.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { STARTED_BY } from '../../../../src/git/process/environment.js'
import { refValue, updateRef, ZERO } from '../../../../src/git/refs/refs.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory, type TestProject } from '../../../helpers/factory.js'
import { waitingEvents } from '../../../helpers/published.js'
import t from '../../../helpers/tap.js'

await testDatabase()

const DEAD = () => `${machine()}#999999#1#x`

async function stored() {
  const project = await factory.project()
  for (const text of ['one', 'two', 'three']) await factory.file(project, `${text}.txt`, text)
  const repository = await ensureRepository({ id: project.id, storage: 'default' })
  const found = execFileSync('git', ['-C', repository, 'rev-list', '--reverse', 'master']).toString().trim().split('\n')
  await execute('delete from jobs')
  await execute('delete from ref_changes')
  return { project, repository, commits: found as [string, string, string] }
}

const ref = 'refs/heads/work'
const states = async (project: TestProject) =>
  (await rows<{ state: string }>('select state from ref_changes where project_id = ? order by id', [project.id])).map(
    ({ state }) => state
  )
const jobCount = async () => (await waitingEvents('ref.changed')).length

/** Adds an open change. Its process has ended, unless `owner` names another one. Returns the id. */
async function intent(project: TestProject, move: RefMove, owner = DEAD()): Promise<number> {
  const [open] = await openChanges(project, project.owner, 'push', [move])
  await execute('update ref_changes set process = ? where id = ?', [owner, open?.id ?? 0])
  return open?.id ?? 0
}

t.test('a change that git made has its effects once, also with several recoveries at once', async t => {
  const { project, repository, commits } = await stored()
  const move = { ref, old: ZERO, new: commits[0] }
  await intent(project, move)
  await updateRef(repository, [move])
  const found = await Promise.all([settleOpenChanges(), settleOpenChanges(), settleOpenChanges()])
  t.ok(found.includes(1))
  await settleOpenChanges()
  t.same(await states(project), ['done'])
  t.equal(await jobCount(), 1)
})

t.test('a change that git did not make is removed', async t => {
  const { project, commits } = await stored()
  await intent(project, { ref, old: ZERO, new: commits[0] })
  t.equal(await settleOpenChanges(), 0)
  t.same(await states(project), [])
  t.equal(await jobCount(), 0)
})

t.test('the locks of a git that was killed go', async t => {
  const { project, repository, commits } = await stored()
  const locks = ['refs/heads/work.lock', 'packed-refs.lock'].map(name => join(repository, name))
  const hourAgo = new Date(Date.now() - 3_600_000)
  for (const lock of locks) {
    writeFileSync(lock, '')
    utimesSync(lock, hourAgo, hourAgo)
  }
  await intent(project, { ref, old: ZERO, new: commits[0] })
  await settleOpenChanges()
  t.same(locks.filter(existsSync), [])
  await updateRef(repository, [{ ref, old: ZERO, new: commits[0] }])
  t.equal(await refValue(repository, ref), commits[0])
})

t.test('a lock that a server may still hold delays the change', async t => {
  const { project, repository, commits } = await stored()
  const lock = join(repository, 'refs/heads/work.lock')
  writeFileSync(lock, '')
  await intent(project, { ref, old: ZERO, new: commits[0] })
  await settleOpenChanges()
  t.same(await states(project), ['open'])
  t.ok(existsSync(lock))
  utimesSync(lock, new Date(Date.now() - 15_000), new Date(Date.now() - 15_000))
  await settleOpenChanges()
  t.same(await states(project), [])
  t.notOk(existsSync(lock))
})

t.test('a missing ref shows that git made the deletion', async t => {
  const { project, commits } = await stored()
  await intent(project, { ref, old: commits[0], new: ZERO })
  t.equal(await settleOpenChanges(), 1)
  t.same(await states(project), ['done'])
})

t.test('a later change shows', async t => {
  t.test('that git made an earlier one', async t => {
    const { project, repository, commits } = await stored()
    await intent(project, { ref, old: ZERO, new: commits[0] })
    await updateRef(repository, [{ ref, old: ZERO, new: commits[0] }])
    await intent(project, { ref, old: commits[0], new: commits[1] })
    await updateRef(repository, [{ ref, old: commits[0], new: commits[1] }])
    await execute('update ref_changes set created_at = ?', [new Date(Date.now() - 3_000_000)])
    t.equal(await settleOpenChanges(), 2)
    t.same(await states(project), ['done', 'done'])
    t.equal(await jobCount(), 2)
  })

  t.test('that git did not make an earlier one', async t => {
    const { project, repository, commits } = await stored()
    await intent(project, { ref, old: ZERO, new: commits[2] })
    await intent(project, { ref, old: ZERO, new: commits[1] })
    await updateRef(repository, [{ ref, old: ZERO, new: commits[1] }])
    t.equal(await settleOpenChanges(), 1)
    t.same(await rows('select new_id from ref_changes where project_id = ?', [project.id]), [{ new_id: commits[1] }])
  })

  t.test('nothing while it is open itself, because either may have set the ref', async t => {
    const { project, repository, commits } = await stored()
    await intent(project, { ref, old: ZERO, new: commits[0] })
    const [later] = await openChanges(project, null, 'push', [{ ref, old: ZERO, new: commits[0] }])
    await updateRef(repository, [{ ref, old: ZERO, new: commits[0] }])
    t.equal(await settleOpenChanges(), 0)
    t.same(await states(project), ['open', 'open'])
    await execute("update ref_changes set state = 'done' where id = ?", [later?.id ?? 0])
    await settleOpenChanges()
    t.same(await states(project), ['done'], 'the later one says that the ref was not there before it')
  })
})

t.test('a living owner settles its changes itself', async t => {
  const { project, repository, commits } = await stored()
  const move = { ref, old: ZERO, new: commits[0] }
  const open = await openChanges(project, null, 'push', [move])
  await updateRef(repository, [move])
  t.equal(await settleOpenChanges(), 0)
  t.same(await states(project), ['open'])
  await abandonChanges(open)
  t.equal(await settleOpenChanges(), 1, 'unless it gives them up')
})

t.test('a later process with the same pid is not the owner', async t => {
  const { project, repository, commits } = await stored()
  const move = { ref, old: ZERO, new: commits[0] }
  await intent(project, move, `${machine()}#${process.pid}#1#x`)
  await updateRef(repository, [move])
  t.equal(await settleOpenChanges(), 1)
})

/** Adds a machine whose lease ends in so many seconds. */
const addMachine = (boot: string, seconds: number) =>
  execute(
    `insert into machines (uid, name, boot, version, created_at, started_at, lease_until)
     values (left(sha2(?, 256), 32), ?, ?, '1', now(3), now(3), now(3) + interval ? second)`,
    [boot, boot, boot, seconds]
  )

t.test('a process on another machine counts as alive while its machine renews the lease', async t => {
  t.teardown(() => execute("delete from machines where boot = 'elsewhere'"))
  const { project, repository, commits } = await stored()
  await addMachine('elsewhere', 5)
  await intent(project, { ref, old: ZERO, new: commits[0] }, 'elsewhere#1#1#x')
  await updateRef(repository, [{ ref, old: ZERO, new: commits[0] }])
  const undone = 'refs/heads/undone'
  await intent(project, { ref: undone, old: ZERO, new: commits[0] }, 'elsewhere#1#1#y')
  t.equal(await settleOpenChanges(), 0)
  await execute("update machines set lease_until = now(3) - interval 1 second where boot = 'elsewhere'")
  t.equal(await settleOpenChanges(), 1, 'the ref shows that git made it')
  t.same(await states(project), ['done', 'open'], 'git may still make the other one')
  await execute("update machines set lease_until = now(3) - interval ? second where boot = 'elsewhere'", [
    config().queue.lease + 1
  ])
  await settleOpenChanges()
  t.same(await states(project), ['done'])
})

t.test('a machine without a row is an earlier boot: its changes are settled and its locks removed', async t => {
  const { project, repository, commits } = await stored()
  const lock = join(repository, 'refs/heads/work.lock')
  writeFileSync(lock, '')
  utimesSync(lock, new Date(Date.now() - 15_000), new Date(Date.now() - 15_000))
  await intent(project, { ref, old: ZERO, new: commits[0] }, 'earlier#1#1#x')
  await settleOpenChanges()
  t.same(await states(project), [])
  t.notOk(existsSync(lock))
})

t.test(
  'a lock that may belong to a machine that lives stays, and delays the changes of a machine that is lost',
  async t => {
    t.teardown(() => execute("delete from machines where boot in ('living', 'lost')"))
    const { project, repository, commits } = await stored()
    await addMachine('living', 60)
    await addMachine('lost', -1000)
    const [lock, other] = ['refs/heads/work.lock', 'refs/heads/other.lock'].map(name => join(repository, name))
    const age = (path: string, seconds: number) => {
      const at = new Date(Date.now() - seconds * 1000)
      utimesSync(path, at, at)
    }
    for (const path of [lock, other] as string[]) {
      writeFileSync(path, '')
      age(path, 10)
    }
    await intent(project, { ref, old: ZERO, new: commits[0] }, 'lost#1#1#x')
    const theirs = await intent(project, { ref: 'refs/heads/other', old: ZERO, new: commits[0] }, 'living#1#1#x')
    const begunAgo = (seconds: number) =>
      execute('update ref_changes set created_at = now(3) - interval ? second where id = ?', [seconds, theirs])
    await begunAgo(11)
    await settleOpenChanges()
    t.same(await states(project), ['open', 'open'])
    t.ok(
      [lock, other].every(path => existsSync(path as string)),
      'both are younger than the open change'
    )
    age(lock as string, 500)
    await begunAgo(400)
    await settleOpenChanges()
    t.same(
      [lock, other].filter(path => existsSync(path as string)),
      [other],
      "the older one is nobody else's"
    )
    t.same(await states(project), ['open', 'open'], 'the other one may still be that of the lost machine')
    await execute('delete from ref_changes where id = ?', [theirs])
    age(other as string, 61)
    await settleOpenChanges()
    t.same(await states(project), [])
    t.notOk(existsSync(other as string))
  }
)

t.test('a change of a living process whose insert was committed late is settled', async t => {
  const { project, commits } = await stored()
  const move = { ref, old: ZERO, new: commits[0] }
  const [open] = await openChanges(project, null, 'push', [move])
  const found = await rows<{ process: string }>('select process from ref_changes where id = ?', [open?.id ?? 0])
  const owner = found[0]?.process ?? ''
  t.equal(await settleOpenChanges(), 0)
  t.same(await states(project), ['open'], 'a call that waits for git keeps its change')
  await settleChanges(project, [open as OpenChange], [])
  await execute(
    `insert into ref_changes (project_id, ref, old_id, new_id, source, process, created_at)
     values (?, ?, ?, ?, 'push', ?, now(3))`,
    [project.id, ref, ZERO, commits[0], owner]
  )
  await settleOpenChanges()
  t.same(await states(project), [])
})

t.test('a push that takes hours keeps its change', async t => {
  const { project, commits } = await stored()
  await openChanges(project, null, 'push', [{ ref, old: ZERO, new: commits[0] }])
  const real = performance.now
  t.teardown(() => {
    performance.now = real
  })
  performance.now = () => real.call(performance) + 10 * 3_600_000
  t.equal(await settleOpenChanges(), 0)
  t.same(await states(project), ['open'])
})

t.test('a change that another machine has removed too early has its effects once', async t => {
  const { project, repository, commits } = await stored()
  const other = 'refs/heads/other'
  const moves = [ref, other].map(name => ({ ref: name, old: ZERO, new: commits[0] }))
  const open = await openChanges(project, project.owner, 'push', moves)
  await execute('delete from ref_changes where project_id = ? and ref = ?', [project.id, ref])
  await updateRef(repository, moves)
  const results = [ref, other].map(name => ({ ref: name, ok: true }))
  await settleChanges(project, open, results)
  t.same(await states(project), ['done', 'done'])
  t.equal(await jobCount(), 2)
  await settleChanges(project, open, results)
  t.same(await states(project), ['done', 'done'], 'a second attempt changes nothing')
  t.equal(await jobCount(), 2)
})

t.test('a git process that outlives its server may still make the change', async t => {
  const { project, repository, commits } = await stored()
  const move = { ref, old: ZERO, new: commits[0] }
  await intent(project, move)
  const git = spawn('sleep', ['100'], { env: { ...process.env, [STARTED_BY]: '999999' } })
  await once(git, 'spawn')
  t.teardown(() => git.kill())
  t.equal(await settleOpenChanges(), 0)
  t.same(await states(project), ['open'])
  await updateRef(repository, [move])
  git.kill()
  await once(git, 'exit')
  t.equal(await settleOpenChanges(), 1)
  t.equal(await refValue(repository, ref), commits[0])
})

t.test('the changes of a removed project are removed', async t => {
  const { project, commits } = await stored()
  await intent(project, { ref, old: ZERO, new: commits[0] })
  await execute('delete from projects where id = ?', [project.id])
  t.equal(await settleOpenChanges(), 0)
  t.same(await states(project), [])
})
