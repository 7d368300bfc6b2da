import { fork } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { openConnection } from '../../../src/db/connect/connection.js'
import { execute, marks, row, rows } from '../../../src/db/connect/sql.js'
import { migrations } from '../../../src/db/migrations/list.js'
import { migrationNames } from '../../../src/db/migrations/names.js'
import {
  migrateDown,
  migrateUp,
  migrationStates,
  newerMigrations,
  requireSchema,
  schemaIsCurrent
} from '../../../src/db/schema/migrate.js'
import { planRollback } from '../../../src/db/schema/rollback.js'
import { testDatabase } from '../../helpers/database.js'

await testDatabase()

const names = migrations.map(({ name }) => name)
const tables = async () =>
  (
    await rows<{ name: string }>(
      'select table_name as name from information_schema.tables where table_schema = database() order by 1'
    )
  ).map(({ name }) => name)
const columns = () =>
  rows(
    `select table_name, column_name, column_type, is_nullable, column_default from information_schema.columns
     where table_schema = database() order by 1, ordinal_position`
  )
const down = () => migrateDown(names.length)
/** MySQL refuses to prepare some of the statements of migrations. */
async function send(statements: readonly string[]): Promise<void> {
  const connection = await openConnection()
  for (const statement of statements) await connection.promise().query(statement)
  connection.destroy()
}

t.test('names are unique and in order, and every table has a primary key', async t => {
  t.same(names, [...new Set(names)].sort())
  t.same(migrationNames, names, 'each has the name of its file')
  const without = await rows(
    `select t.table_name from information_schema.tables t left join information_schema.table_constraints c
       on c.table_schema = t.table_schema and c.table_name = t.table_name and c.constraint_type = 'PRIMARY KEY'
     where t.table_schema = database() and c.constraint_name is null`
  )
  t.same(without, [])
})

t.test('down removes everything, and up creates the same schema again', async t => {
  const before = await columns()
  t.same(await migrateDown(), [names.at(-1)])
  t.equal(await schemaIsCurrent(), false)
  await t.rejects(requireSchema(), { name: 'Misconfigured', message: /run gitstead db migrate/ })
  t.same(await down(), names.slice(0, -1).reverse())
  t.same(await tables(), ['schema_lock', 'schema_migrations'])
  t.same(await migrateUp(), names)
  t.same(await columns(), before)
  t.same(await migrateUp(), [])
  t.ok((await migrationStates()).every(({ applied_at }) => applied_at))
})

t.test('two processes at the same time apply each step once', async t => {
  await down()
  const children = [1, 2].map(() => fork(new URL('../schema-process.js', import.meta.url)))
  const applied = await Promise.all(children.map(async child => (await once(child, 'message'))[0] as string[]))
  await Promise.all(children.map(child => child.exitCode ?? once(child, 'exit')))
  t.same(applied.flat().sort(), names)
  t.equal(await schemaIsCurrent(), true)
})

t.test('a process that died in the middle of a step does not stop the next one', async t => {
  const before = await columns()
  await down()
  for (const { up, name } of migrations) {
    // Runs all statements of the step, but does not record that it was applied.
    await send(up)
    t.same(await migrateUp(name), [name])
  }
  t.same(await columns(), before)
  t.match(await row('select count(*) as count from job_totals'), { count: 2 })
})

t.test('a process that died in the middle of a rollback does not stop the next one', async t => {
  const last = migrations.at(-1)
  await send(last?.down ?? [])
  t.same(await migrateDown(), [last?.name])
  t.same(await migrateUp(), [last?.name])
})

t.test('rows of earlier versions are kept and completed', async t => {
  await down()
  await migrateUp('0006-administration')
  const builds = [
    ['a', 0, 'success', 0],
    ['b', 0, 'failed', 1],
    ['c', 2, 'pending', 0],
    ['d', 2, 'created', 0]
  ] as const
  for (const [name, stage, status, ignored] of builds) {
    await execute(
      `insert into builds (pipeline_id, project_id, name, stage, stage_index, ref, tag, sha, status, start_when,
         allow_failure, tag_list, plan, created_at, updated_at)
       values (7, 1, ?, concat('stage ', ?), ?, 'master', false, '', ?, 'on_success', ?, '["x"]', '{}', now(), now())`,
      [name, stage, stage, status, ignored]
    )
  }
  const at = names.indexOf('0008-happenings')
  await migrateUp(names[at - 1])
  const moment = new Date('2026-01-02T03:04:05.678Z')
  const hook = {
    id: 7,
    url: 'https://hooks.example.org/',
    token_encrypted: Buffer.from([0, 255, 1]),
    push_events: 0,
    tag_push_events: 1,
    note_events: 0,
    issues_events: 1,
    merge_requests_events: 0,
    enable_ssl_verification: 0,
    failures: 6,
    resting_until: moment,
    rested_at: moment,
    created_at: moment,
    updated_at: moment
  }
  const shown = Object.keys(hook).join(', ')
  await execute(`insert into system_hooks (${shown}) values (${marks(Object.values(hook))})`, Object.values(hook))
  // Number 9 was removed while a delivery waited for it.
  for (const id of [7, 9]) {
    await execute(
      "insert into hook_deliveries (hook_id, event_key, event, payload, created_at) values (?, 'k', 'e', '{}', ?)",
      [id, moment]
    )
  }
  const add = async (table: string) =>
    (await execute(`insert into ${table} (url, created_at, updated_at) values ('http://x/', ?, ?)`, [moment, moment]))
      .insertId
  await migrateUp(names[names.indexOf('0013-stored-dates') - 1])
  await execute(
    `insert into broadcast_messages (message, starts_at, ends_at, color, font, created_at, updated_at)
     values ('m', ?, '0000-00-00 00:00:00', '#000000', '#000000', ?, ?)`,
    [moment, moment, moment]
  )
  await migrateUp()

  await t.test('builds get counts of their stages, and a place in the queue', async t => {
    t.match(await rows('select * from pipeline_stages order by position'), [
      { pipeline_id: 7, position: 0, name: 'stage 0', success: 1, failed: 0, ignored: 1, created: 0 },
      { pipeline_id: 7, position: 2, name: 'stage 2', pending: 1, created: 1, success: 0 }
    ])
    t.match(
      await rows(`select name, tag_list_hash = unhex(left(sha2('["x"]', 256), 32)) as queued from builds order by id`),
      [
        { name: 'a', queued: 0 },
        { name: 'b', queued: 0 },
        { name: 'c', queued: 1 },
        { name: 'd', queued: 1 }
      ]
    )
  })

  await t.test('dates that no client can read are replaced', async t => {
    const last = new Date('9999-12-31T23:59:59Z')
    t.same(await rows('select starts_at, ends_at from broadcast_messages'), [{ starts_at: moment, ends_at: last }])
    await t.rejects(
      execute('update broadcast_messages set ends_at = ?', [new Date('+010000-01-01T00:00:00Z')]),
      { name: 'RangeError' },
      'no statement stores such a date again'
    )
  })

  await t.test('system hooks keep their ids and their deliveries, up and down', async t => {
    t.same(await rows(`select project_id, build_events, ${shown} from hooks`), [
      { project_id: null, build_events: 0, ...hook }
    ])
    t.equal((await tables()).includes('system_hooks'), false)
    t.ok((await add('hooks')) > 9, 'a new hook does not get the deliveries of a removed one')
    await execute('delete from hooks where id <> 7')
    await execute("insert into hooks (project_id, url, created_at, updated_at) values (1, 'http://y/', ?, ?)", [
      moment,
      moment
    ])
    await migrateDown(names.length - at)
    t.same(await rows(`select ${shown} from system_hooks`), [hook])
    t.ok((await add('system_hooks')) > 9)
    t.same(await rows('select hook_id from hook_deliveries order by id'), [{ hook_id: 7 }, { hook_id: 9 }])
  })
  await migrateUp()
})

t.test('the lock of a dead process is taken over when its lease ends', async t => {
  await migrateDown()
  await execute("update schema_lock set holder = 'gone', expires_at = ?", [new Date(Date.now() + 300)])
  t.same(await migrateUp(), [names.at(-1)])
})

t.test('a schema that a newer version has only expanded is accepted, but not rolled back', async t => {
  const states = await migrationStates()
  const known = names.at(-1)?.slice(0, 4)
  const newer = ['9998-future', `9999-contract-${known}-future`]
  for (const name of newer) {
    await execute('insert into schema_migrations (name, applied_at) values (?, ?)', [name, new Date()])
  }
  t.teardown(() => execute("delete from schema_migrations where name like '999%'"))
  await requireSchema()
  t.same(await migrateUp(), [])
  t.same(await migrationStates(), states)
  t.same(await newerMigrations(), newer)
  for (const ask of [migrateDown, () => planRollback(1)]) {
    await t.rejects(Promise.resolve(ask()), { name: 'Misconfigured', message: /newer version .* 9998-future/ })
  }
})

t.test('all functions refuse the schema of a version that has removed what this one uses', async t => {
  await execute("insert into schema_migrations (name, applied_at) values ('9999-contract-9998-future', ?)", [
    new Date()
  ])
  const asks: (() => Promise<unknown>)[] = [migrateUp, migrateDown, migrationStates, requireSchema]
  for (const ask of asks) {
    await t.rejects(
      Promise.resolve(ask()).then(() => undefined),
      { name: 'Misconfigured', message: /newer version of Gitstead \(it has 9999-contract-9998-future\)/ }
    )
  }
  await execute("delete from schema_migrations where name like '9999-%'")
  await t.resolves(requireSchema())
})
