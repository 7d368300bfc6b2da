// Three nodes that all take writes: rules that read and then write hold, and a connection never shows an old state.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RowDataPacket } from 'mysql2/promise'
import t, { type Test } from 'tap'
import { numberOfPipeline } from '../../src/areas/ci/pipelines/numbers.js'
import { createTrigger } from '../../src/areas/ci/pipelines/triggers.js'
import { createProject } from '../../src/areas/projects/projects/projects.js'
import { databaseCheck } from '../../src/cli/doctor/database.js'
import { loadConfig } from '../../src/config.js'
import { closeDatabase, openConnection } from '../../src/db/connect/connection.js'
import { sequelize } from '../../src/db/connect/sequelize.js'
import { databaseNodes } from '../../src/db/connect/server.js'
import { execute, row, rows } from '../../src/db/connect/sql.js'
import { transact } from '../../src/db/connect/transact.js'
import { Unavailable } from '../../src/errors.js'
import { claimJobs, finishJobs } from '../../src/queue/claim.js'
import { enqueueAll } from '../../src/queue/enqueue.js'
import { registerProcess } from '../../src/queue/processes.js'
import { pipelineOf } from '../areas/ci/builds/make-builds.js'
import { testApp } from '../helpers/app.js'
import { eventually } from '../helpers/daemons.js'
import { factory, originBy, projectRow, someOrigin } from '../helpers/factory.js'
import { type Node, startGalera } from './galera.js'
import { inTurns } from './turns.js'

const folder = mkdtempSync(join(tmpdir(), 'gitstead-galera-'))
const galera = await startGalera(folder)
const [first, second, third] = galera.nodes
const root = await first.connect()
await root.query("create or replace user root@'127.0.0.1' identified by 'root'")
await root.query("grant all on *.* to root@'127.0.0.1'")
const turns = await inTurns(galera.nodes)
process.env.GITSTEAD_TEST_SERVER = `mysql://root:root@127.0.0.1:${turns.port}/`
delete process.env.GITSTEAD_TEST_SCHEMA
t.teardown(async () => {
  root.destroy()
  await turns.stop()
  await galera.stop()
  rmSync(folder, { recursive: true })
})
const app = await testApp(t)

const models = async (sql: string) => (await sequelize().query(sql))[0]
const times = <T>(count: number, work: (at: number) => Promise<T>) =>
  Promise.allSettled(Array.from({ length: count }, (_, at) => work(at)))
const done = (outcomes: readonly PromiseSettledResult<unknown>[]) =>
  outcomes.filter(({ status }) => status === 'fulfilled').length

/** Connects this process to one node only. */
async function useOnly(t: Test, node: Node): Promise<void> {
  await closeDatabase()
  const only = await inTurns([node])
  t.teardown(only.stop)
  const url = new URL(process.env.GITSTEAD_DATABASE_URL ?? '')
  url.port = String(only.port)
  process.env.GITSTEAD_DATABASE_URL = url.href
  loadConfig({ port: 0 })
}

const asksOnNewConnection = (sql: string) => async () => {
  const connection = await openConnection()
  const [found] = await connection.promise().query<RowDataPacket[]>(sql)
  connection.destroy()
  return found
}

t.test('doctor says that connections lead to several nodes', async t => {
  t.same(await databaseNodes(), ['db1', 'db2', 'db3'])
  t.match(await databaseCheck.examine({ all: false, serverUp: true, now: new Date(), serverUrl: '' }), {
    found: /several nodes: db1, db2, db3$/,
    next: /send all connections to one node/
  })
})

t.test('the connections of the pools lead to all nodes', async t => {
  const names = await times(9, () => row<{ name: string }>('select @@wsrep_node_name as name, sleep(0.1)'))
  t.same([...new Set(names.map(each => each.status === 'fulfilled' && each.value?.name))].sort(), ['db1', 'db2', 'db3'])
  const inside = await times(9, () =>
    transact(() => row<{ name: string }>('select @@wsrep_node_name as name, sleep(0.1)'))
  )
  t.same([...new Set(inside.map(each => each.status === 'fulfilled' && each.value?.name))].sort(), [
    'db1',
    'db2',
    'db3'
  ])
})

t.test('limits hold', async t => {
  const owner = await factory.user({ projects_limit: 3 })
  t.equal(done(await times(10, at => createProject({ name: `p${at}` }, originBy(owner)))), 3, 'the limit of projects')
  const project = await factory.project()
  const record = await projectRow(project)
  const made = await times(110, () => createTrigger(record, someOrigin))
  const found = await row<{ count: number }>('select count(*) as count from triggers where project_id = ?', [
    project.id
  ])
  t.equal(Number(found?.count), done(made), 'what was answered exists')
  t.ok(done(made) <= 100, 'the limit of triggers')
})

t.test('one administrator is left when all block each other', async t => {
  const admins = [await factory.admin(), await factory.admin(), await factory.admin()]
  await execute(
    'update users set admin = 0 where id not in (?, ?, ?)',
    admins.map(({ id }) => id)
  )
  await Promise.all(
    admins.map((admin, at) =>
      app
        .as(admin)
        .post(`/users/${admins[(at + 1) % 3]?.id}/block`)
        .catch(() => undefined)
    )
  )
  const left = await rows("select id from users where admin = 1 and state = 'active'")
  t.ok(left.length >= 1)
})

t.test('names and numbers are taken once', async t => {
  const project = await factory.project()
  const owner = app.as(project.owner)
  const path = `/projects/${project.id}`
  const labels = await Promise.all(
    Array.from({ length: 9 }, () => owner.post(`${path}/labels`, { name: 'bug', color: '#112233' }))
  )
  t.same(labels.map(({ statusCode }) => statusCode).sort(), [201, 409, 409, 409, 409, 409, 409, 409, 409])
  const issues = await Promise.all(
    Array.from({ length: 30 }, (_, at) => owner.post(`${path}/issues`, { title: `issue ${at}` }))
  )
  const iids = issues.filter(({ statusCode }) => statusCode === 201).map(answer => answer.json().iid)
  t.equal(new Set(iids).size, iids.length)
  t.equal(iids.length, 30)
  const total = await row<{ count: number }>('select count(*) as count from issues where project_id = ?', [project.id])
  t.equal(Number(total?.count), 30)
})

t.test('pipelines keep their numbers', async t => {
  const project = await factory.project()
  for (const name of ['.gitstead-ci.yml', 'b', 'c', 'd', 'e', 'f']) {
    await factory.file(project, name, 'one:\n  script: [true]\n')
    await pipelineOf(project)
    const [last] = await rows<{ id: number }>('select max(id) as id from pipelines where project_id = ?', [project.id])
    await numberOfPipeline(project.id, last?.id ?? 0)
  }
  const ids = await rows<{ id: number }>('select id from pipelines where project_id = ? order by id', [project.id])
  t.same(await Promise.all(ids.map(({ id }) => numberOfPipeline(project.id, id))), [1, 2, 3, 4, 5, 6])
})

t.test('each job is claimed once', async t => {
  await execute('delete from jobs')
  await enqueueAll(
    'hook.deliver',
    Array.from({ length: 60 }, (_, at) => ({ deliveryId: at + 1 }))
  )
  const seen: number[] = []
  const processes = await Promise.all([1, 2, 3].map(() => registerProcess({ queues: ['hooks'], concurrency: 5 })))
  await Promise.all(
    processes.map(async id => {
      for (let idle = 0; idle < 20; ) {
        const claimed = await claimJobs('hooks', id, 5)
        idle = claimed.length > 0 ? 0 : idle + 1
        seen.push(...claimed.map(job => job.id))
        await finishJobs(
          claimed.map(job => job.id),
          id
        )
      }
    })
  )
  t.equal(seen.length, 60)
  t.equal(new Set(seen).size, 60)
})

t.test('a transaction that another node refuses runs again', async t => {
  const user = await factory.user()
  let tries = 0
  await transact(async () => {
    tries++
    await execute('update users set held = 1 - held where id = ?', [user.id])
    if (tries > 1) return
    const here = await row<{ name: string }>('select @@wsrep_node_name as name')
    const other = galera.nodes.find(({ name }) => name !== here?.name) ?? first
    const database = await row<{ name: string }>('select database() as name')
    const connection = await other.connect()
    await connection.query(`update ${database?.name}.users set held = 1 - held where id = ?`, [user.id])
    await connection.end()
  })
  t.ok(tries > 1, `${tries} tries`)
})

t.test('nothing is stored of a transaction that another node has ended, though nobody saw the error', async t => {
  const [user, other] = [await factory.user(), await factory.user()]
  const [database] = await rows<{ name: string }>('select database() as name')
  const noted: number[] = []
  await execute('create table halves (id int primary key auto_increment, half int)')
  await transact(async () => {
    noted.push(noted.length)
    await execute('insert into halves (half) values (1)')
    await execute('update users set held = 1 - held where id = ?', [user.id])
    if (noted.length === 1) {
      const here = await row<{ name: string }>('select @@wsrep_node_name as name')
      const connectTo = (isHere: boolean) =>
        (galera.nodes.find(({ name }) => (name === here?.name) === isHere) ?? first).connect()
      const [far, near] = [await connectTo(false), await connectTo(true)]
      await far.query(`update ${database?.name}.users set held = 1 - held where id = ?`, [user.id])
      // The node applies the change only after it has ended the transaction.
      await eventually('the change on this node', async () => {
        const held = `select held from ${database?.name}.users where id = ?`
        const [[found]] = await near.query<RowDataPacket[]>(held, [user.id])
        return found?.held === 1
      })
      for (const connection of [far, near]) connection.destroy()
      // The node itself sometimes loses the error: then this statement succeeds.
      await row('select id from users where id = ? for update', [user.id]).catch(() => undefined)
    }
    await execute('insert into halves (half) values (2)')
    await execute('update users set held = 1 - held where id = ?', [other.id])
  })
  t.same(noted, [0, 1])
  t.same(await rows('select half from halves order by half'), [{ half: 1 }, { half: 2 }])
  const outside = await transact(() => row<{ own: number }>('select @@autocommit as own'))
  t.match(outside, { own: 0 })
  const pool = await models('select @@autocommit as own, @@in_transaction as open')
  t.match(pool, [{ own: 1, open: 0 }], 'a statement outside of transactions, on the same connections')
})

t.test('a statement waits until its node has what others have acknowledged', async t => {
  await useOnly(t, second)
  const behind = await second.connect()
  const [table] = await rows<{ name: string }>('select database() as name')
  await root.query(`create table ${table?.name}.told (id int primary key)`)
  const told = 'select count(*) as n from told'
  const seen = { read: () => row(told), transaction: () => transact(() => row(told)), model: () => models(told) }
  for (const ask of Object.values(seen)) await ask()
  // This node applies nothing now.
  await behind.query('flush tables with read lock')
  await root.query(`insert into ${table?.name}.told values (1)`)
  t.match(await behind.query(`select count(*) as n from ${table?.name}.told`), [[{ n: 0 }]], 'the node is behind')
  let answers = 0
  const asked = Object.entries({ ...seen, 'a new connection': asksOnNewConnection(told) }).map(async ([name, ask]) => {
    const found = [await ask()].flat()
    answers++
    return { name, found }
  })
  await new Promise(resolve => setTimeout(resolve, 500))
  t.equal(answers, 0)
  await behind.query('unlock tables')
  for (const { name, found } of await Promise.all(asked)) t.match(found, [{ n: 1 }], name)
  behind.destroy()
})

t.test('a commit whose node has lost its cluster does not run again: the others may have stored it', async t => {
  await useOnly(t, first)
  let tries = 0
  const written = transact(async () => {
    tries++
    await execute('insert into told values (2)')
    second.signal('SIGSTOP')
    third.signal('SIGSTOP')
  })
  await t.rejects(written, Unavailable)
  t.equal(tries, 1)
  second.signal('SIGCONT')
  third.signal('SIGCONT')
  await eventually('a whole cluster', async () => {
    const [[found]] = await root.query<RowDataPacket[]>("show status like 'wsrep_cluster_size'")
    const [[state]] = await root.query<RowDataPacket[]>("show status like 'wsrep_local_state'")
    return found?.Value === '3' && state?.Value === '4'
  })
})
