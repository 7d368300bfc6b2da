// Tests the check `tables` of `gitstead doctor`: changes of the schema that were made by hand.
import t from 'tap'
import { tablesCheck } from '../../../src/cli/doctor/tables.js'
import { execute, rows } from '../../../src/db/connect/sql.js'
import { migrateUp } from '../../../src/db/schema/migrate.js'
import { testDatabase } from '../../helpers/database.js'

await testDatabase()
await migrateUp()
const context = { all: false, serverUp: false, serverUrl: '', now: new Date() }
const [own] = await rows<{ name: string }>('select database() as name')
const scratch = `\`${own?.name}_schema_check\``
const examine = async () => tablesCheck.examine(context)

t.test('an unchanged schema is in order, and the scratch database is dropped', async t => {
  t.match(await examine(), /^all \d{3,4} definitions are as the migrations make them$/)
  t.same(await rows("select schema_name from information_schema.schemata where schema_name like '%_schema_check'"), [])
})

t.test('each change is named', async t => {
  const changes = [
    [
      'drop index users_state on users',
      'create index users_state on users (state, id)',
      /^index users.users_state is missing: \(state, id\)$/
    ],
    [
      'alter table users add column shoe_size int null',
      'alter table users drop column shoe_size',
      /^column users.shoe_size is extra: int/
    ],
    [
      'alter table projects modify name varchar(255) collate utf8mb4_bin not null',
      'alter table projects modify name varchar(255) collate utf8mb4_unicode_520_ci not null',
      /^column projects.name is varchar\(255\) utf8mb4_bin not null, but should be varchar\(255\) utf8mb4_unicode_520_ci not null$/
    ],
    ['create table pets (id int primary key)', 'drop table pets', /^table pets is extra: base table InnoDB/],
    [
      'alter table doctor_marks rename to marks_of_doctor',
      'alter table marks_of_doctor rename to doctor_marks',
      /^table doctor_marks is missing: /
    ]
  ] as const
  for (const [change, undo, expected] of changes) {
    await execute(change)
    await t.rejects(examine(), { message: /^\d definitions? of the schema differs?$/, details: [expected] }, change)
    await execute(undo)
  }
  t.match(await examine(), /^all /)
})

t.test('what a killed doctor left is dropped, and nothing else', async t => {
  const again = async () => tablesCheck.examine({ ...context, all: true })
  await execute(`create database ${scratch}`)
  t.match(await again(), /^all /, 'it died before the first table')

  await execute(`create database ${scratch}`)
  await execute(`create table ${scratch}.letters (id int primary key)`)
  await t.rejects(again(), { message: /has tables, but not the mark of a scratch database/ })
  t.same(await rows(`select id from ${scratch}.letters`), [])

  await execute(`create table ${scratch}.schema_check_mark (id int primary key)`)
  await t.rejects(again(), { message: /^another process compares the schema/ })
  await execute(`drop database ${scratch}`)
})
