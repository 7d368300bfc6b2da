// Compares src/db/connect/collations.ts with the schema of the migrations: a column with a loose collation treats
// different names as equal, in conditions and in unique keys.
import { PROSE, PROSE_COLLATION } from '../../../src/db/connect/collations.js'
import { openConnection } from '../../../src/db/connect/connection.js'
import { execute, row, rows } from '../../../src/db/connect/sql.js'
import { identifiers } from '../../../src/db/migrations/0010-identifiers.js'
import { migrations } from '../../../src/db/migrations/list.js'
import { migrateDown, migrateUp } from '../../../src/db/schema/migrate.js'
import { testDatabase } from '../../helpers/database.js'
import t from '../../helpers/tap.js'

await testDatabase()

/** Tables of the migrations themselves, which the first migration needs. */
const NOT_OURS = "('schema_migrations', 'schema_lock')"

/** The names of the exact collation, in MariaDB and in MySQL. */
const EXACT = ['utf8mb4_nopad_bin', 'utf8mb4_0900_bin']

/** The migrations after the one that made identifiers exact. */
const LATER = migrations.slice(migrations.indexOf(identifiers) + 1).map(({ name }) => name)

interface Column {
  readonly place: string
  readonly collation: string
}

/** Returns what a developer must change, one message for each column and table. */
async function differences(): Promise<string[]> {
  const columns = await rows<Column>(
    `select concat(table_name, '.', column_name) as place, collation_name as collation from information_schema.columns
     where table_schema = database() and collation_name is not null and table_name not in ${NOT_OURS} order by 1`
  )
  const tables = await rows<Column>(
    `select table_name as place, table_collation as collation from information_schema.tables
     where table_schema = database() and table_name not in ${NOT_OURS} order by 1`
  )
  const places = new Set(columns.map(({ place }) => place))
  return [
    ...columns.filter(({ place }) => !PROSE.includes(place)).flatMap(found => unless(found, EXACT, ADVICE)),
    ...columns
      .filter(({ place }) => PROSE.includes(place))
      .flatMap(found => unless(found, [PROSE_COLLATION], 'PROSE lists it')),
    ...tables.flatMap(found => unless(found, EXACT, 'later columns get it')),
    ...PROSE.filter(place => !places.has(place)).map(place => `${place}: there is no such column`)
  ]
}

const ADVICE = 'name neither character set nor collation in its migration, or list it as prose'

const unless = ({ place, collation }: Column, wanted: readonly string[], advice: string) =>
  wanted.includes(collation) ? [] : [`${place} has ${collation}: ${advice}`]

t.test('every column with text compares exactly or is listed as prose', async t => {
  t.same(await differences(), [])
})

t.test('the test finds a column that compares loosely, and columns of new tables are exact', async t => {
  // The connections of the pools are older than the schema.
  const connection = await openConnection()
  await connection.promise().query(
    `create table pets (id int unsigned primary key, name varchar(255), kind varchar(8) character set ascii,
       about text collate utf8mb4_unicode_ci)`
  )
  connection.destroy()
  t.teardown(() => execute('drop table if exists pets'))
  t.same(await differences(), [
    `pets.about has utf8mb4_unicode_ci: ${ADVICE}`,
    `pets.kind has ascii_general_ci: ${ADVICE}`
  ])
})

t.test('values of statements compare as the columns do', async t => {
  for (const [one, other] of [
    ['alice', 'alicé'],
    ['alice', 'alice '],
    ['alice', 'Alice'],
    ['🦊', '🚀'],
    ['ß', 'ss']
  ] as const) {
    t.match(await row('select ? = ? as same', [one, other]), { same: 0 }, `${one} and ${other}`)
  }
})

/** Writes names of namespaces in an older schema, which has no versions of content to move. */
async function writeOld(sql: string, values: readonly (string | number)[] = []): Promise<void> {
  const connection = await openConnection()
  await connection.promise().query(sql, [...values])
  await connection.promise().end()
}

t.test('a rollback refuses names that the older version treats as equal, before it changes anything', async t => {
  const insert = `insert into namespaces (kind, name, path, created_at, updated_at)
    values ('group', 'one', 'café', now(3), now(3)), ('group', 'two', 'cafe', now(3), now(3))`
  await execute(insert)
  if (LATER.length > 0) await migrateDown(LATER.length)
  await t.rejects(migrateDown(), { message: /0010-identifiers.*same_for_the_older_version/s })
  t.same(await differences().then(found => found.filter(text => !text.startsWith('rollback_check'))), [])
  await writeOld("delete from namespaces where path = 'café'")
  t.same(await migrateDown(), [identifiers.name])
  t.match(await row("select id from namespaces where path = 'CAFÉ'"), { id: Number })
  t.same(await migrateUp(), [identifiers.name, ...LATER])
  t.same(await differences(), [])
})

t.test('rows of the older schema keep their names, even names that are refused today', async t => {
  await migrateDown(1 + LATER.length)
  const [last] = await rows<{ id: number }>("select id from namespaces where path = 'cafe'")
  await writeOld('update namespaces set path = ? where id = ?', ['Old name ', last?.id ?? 0])
  await migrateUp()
  const byKey = (path: string) => row('select path from namespaces where path_key = lower(?)', [path])
  t.same(await byKey('old NAME '), { path: 'Old name ' })
  t.equal(await byKey('old name'), undefined)
  t.equal(await byKey('old namé '), undefined)
})
