// What a rollback reports about the data that it destroys.
import { closeDatabase, openConnection } from '../../../src/db/connect/connection.js'
import { execute, rows } from '../../../src/db/connect/sql.js'
import { migrations } from '../../../src/db/migrations/list.js'
import { migrateDown, migrateUp, migrationStates, requireSchema } from '../../../src/db/schema/migrate.js'
import { othersAtWork, planRollback } from '../../../src/db/schema/rollback.js'
import { testDatabase } from '../../helpers/database.js'
import { factory } from '../../helpers/factory.js'
import { fill } from '../../helpers/owned-rows.js'
import t from '../../helpers/tap.js'

await testDatabase()

const shape = async () => {
  const found = await rows<{ t: string; c: string }>(
    'select table_name as t, column_name as c from information_schema.columns where table_schema = database()'
  )
  return new Set(found.flatMap(({ t, c }) => [`${t}.*`, `${t}.${c}`]))
}

t.test('the plan counts the rows of each table', async t => {
  await fill({ project: await factory.project(), user: await factory.user() })
  await execute("insert into hooks (url, created_at, updated_at) values ('http://x/', now(), now())")
  const plan = await planRollback(migrations.length)
  t.same(
    plan.map(({ migration }) => migration),
    migrations.map(({ name }) => name).reverse()
  )
  const lost = new Map(
    plan.flatMap(({ losses }) => losses.map(({ table, column, rows }) => [`${table}.${column ?? '*'}`, rows]))
  )
  for (const table of ['users', 'projects', 'runners', 'activity_events']) {
    const [found] = await rows<{ n: number }>(`select count(*) as n from ${table}`)
    t.equal(lost.get(`${table}.*`), found?.n, table)
  }
  t.equal(lost.get('hooks.*'), 1, 'only the hook of the project is lost: the older schema keeps system hooks')
})

t.test('each step lists every table and column that it drops', async t => {
  for (;;) {
    const [step] = await planRollback(1)
    if (!step) break
    const before = await shape()
    await migrateDown()
    const after = await shape()
    const named = new Set(step.losses.map(({ table, column }) => `${table}.${column ?? '*'}`))
    const gone = [...before].filter(name => !after.has(name))
    const unnamed = gone.filter(name => !named.has(name) && !named.has(`${name.split('.')[0]}.*`))
    t.same(unnamed, [], step.migration)
  }
  await migrateUp()
})

t.test(
  'a rollback that is killed after any of its statements counts neither as finished nor as not yet begun',
  async t => {
    const killed = async (name: string, statements: readonly string[]) => {
      const updated = 'update schema_migrations set name = ? where name = ?'
      await execute(updated, [`${name} undoing`, name])
      const connection = await openConnection()
      for (const sql of statements) await connection.promise().query(sql)
      connection.destroy()
    }
    for (const { name, down } of migrations.slice(-4).reverse()) {
      const whole = await shape()
      for (let done = 0; done <= down.length; done++) {
        await killed(name, down.slice(0, done))
        await t.rejects(requireSchema(), { message: new RegExp(`^a rollback of ${name} is unfinished: run`) })
        t.match(
          (await migrationStates()).find(state => state.name === name),
          { applied_at: null, half_undone: true }
        )
        t.same(await migrateUp(name), [name])
        t.same(await shape(), whole, `${name} is applied again after ${done} statements`)
      }
      await killed(name, down.slice(0, 1))
      t.match(await planRollback(1), [{ migration: name }], 'the next rollback begins with it')
      t.same(await migrateDown(), [name])
      await migrateUp(name)
      t.same(await shape(), whole)
      await migrateDown()
    }
    await migrateUp()
    await requireSchema()
  }
)

t.test('connections of other processes and live workers are reported', async t => {
  // This is the first statement of its process.
  await closeDatabase()
  t.same(await othersAtWork(), [], 'this process does not count')
  await execute(
    `insert into job_processes (hostname, machine, pid, pid_started, tag, queues, labels, concurrency, started_at, lease_until)
     values ('far', 'm', 7, 1, 'x', '[]', '[]', 1, now(), date_add(utc_timestamp(), interval 1 hour))`
  )
  await closeDatabase()
  t.same(await othersAtWork(), ['worker 7 on far'])
  const other = await openConnection()
  t.match((await othersAtWork()).join(), /1 connections of other processes/)
  other.destroy()
})
