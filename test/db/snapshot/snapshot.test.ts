// Reads rows from a snapshot and loads them again: they are identical to the last digit, and from one moment.

import { execute, rows } from '../../../src/db/connect/sql.js'
import { withLoader } from '../../../src/db/snapshot/load.js'
import { type TableRow, type TableShape, withSnapshot } from '../../../src/db/snapshot/snapshot.js'
import { testDatabase } from '../../helpers/database.js'
import { numbersTo } from '../../helpers/numbers.js'
import t from '../../helpers/tap.js'

await testDatabase()

const COLUMNS: readonly (readonly [name: string, type: string, binary?: true])[] = [
  ['id', 'bigint unsigned not null auto_increment primary key'],
  ['small', 'smallint null'],
  ['flag', 'boolean null'],
  ['price', 'decimal(20,6) null'],
  ['share', 'double null'],
  ['moment', 'datetime(3) null'],
  ['plain_moment', 'datetime null'],
  ['day', 'date null'],
  ['word', 'varchar(255) character set ascii collate ascii_bin null'],
  ['text_value', 'mediumtext character set utf8mb4 null'],
  ['exact', 'varchar(255) character set utf8mb4 collate utf8mb4_bin null'],
  ['hash', 'binary(32) null', true],
  ['box', 'varbinary(255) null', true],
  ['blob_value', 'mediumblob null', true]
]
const table = (name: string): TableShape => ({
  name,
  columns: COLUMNS.map(([column, , binary]) => ({ name: column, binary: binary ?? false })),
  key: ['id'],
  next: 100
})
for (const name of ['round_trip', 'round_trip_copy']) {
  await execute(`create table ${name} (${COLUMNS.map(([column, type]) => `${column} ${type}`).join(', ')})`)
}

const read = (name: string) =>
  rows(
    `select ${COLUMNS.map(([column, , binary]) => (binary ? `hex(${column})` : `cast(${column} as char)`)).join(', ')}
     from ${name} order by id`
  )

async function all(source: AsyncIterable<TableRow>): Promise<TableRow[]> {
  const found: TableRow[] = []
  for await (const row of source) found.push(row)
  return found
}

t.test('every type of column comes back unchanged', async t => {
  const everyByte = Buffer.from(Array.from({ length: 256 }, (_, at) => at))
  const values = [
    ['18446744073709551614', -32768, true, '-12345678901234.000001', 0.1 + 0.2, '2026-11-21 01:02:03.004'],
    [7, 32767, false, '0.000000', 1.7976931348623157e308, '1970-01-01 00:00:00.000'],
    [8, null, null, null, 5e-324, null]
  ]
  const rest = [
    ['9999-12-31 23:59:59', '1999-02-28', 'plain', 'line\nü 😀 \u2028 "q" \\ \t\0', 'É', everyByte.subarray(0, 32)],
    ['2026-01-01 00:00:00', '0001-01-01', '', '', "'; drop table users; --", Buffer.alloc(32)],
    [null, null, null, null, null, null]
  ]
  const boxes = [
    [everyByte.subarray(1), everyByte],
    [Buffer.alloc(0), Buffer.from('7bit')],
    [null, null]
  ]
  for (const [at, first] of values.entries()) {
    const list = [...first, ...(rest[at] ?? []), ...(boxes[at] ?? [])]
    await execute(`insert into round_trip values (${list.map(() => '?').join(', ')})`, list)
  }
  const dumped = await withSnapshot(snapshot => all(snapshot.stream(table('round_trip'))))
  const lines = dumped.map(row => JSON.parse(JSON.stringify(row)) as TableRow)
  const { count } = await withLoader(loader =>
    loader.load(
      table('round_trip_copy'),
      (async function* () {
        yield* lines
      })()
    )
  )
  t.equal(count, 3)
  t.same(await read('round_trip_copy'), await read('round_trip'))
})

t.test('a table keeps its next automatic number', async t => {
  const next = (rowsOfTable: TableRow[]) =>
    withLoader(loader =>
      loader.load(
        { ...table('round_trip_copy'), next: 4711 },
        (async function* () {
          yield* rowsOfTable
        })()
      )
    )
  t.equal((await next([])).count, 0, 'the earlier rows are deleted')
  const { insertId } = await execute('insert into round_trip_copy (small) values (1)')
  t.equal(insertId, 4711)
})

t.test('a snapshot does not see changes after its start', async t => {
  await execute('delete from round_trip')
  await execute('insert into round_trip (id, word) values (?, ?)', [1, 'before'])
  await withSnapshot(async snapshot => {
    await execute('update round_trip set word = ?', ['after'])
    await execute('insert into round_trip (id, word) values (?, ?)', [2, 'new'])
    const found = await all(snapshot.stream(table('round_trip')))
    t.same(
      found.map(row => [row[0], row[8]]),
      [['1', 'before']]
    )
  })
})

t.test('streams more rows than any buffer holds', async t => {
  await execute('delete from round_trip')
  await execute(
    `insert into round_trip (id, text_value) select seq, repeat(concat(seq, ' '), 200) from ${numbersTo(5000)}`
  )
  const { count } = await withSnapshot(async snapshot => {
    const shape = table('round_trip')
    return withLoader(loader => loader.load(table('round_trip_copy'), snapshot.stream(shape)))
  })
  t.equal(count, 5000)
  const sum = (name: string) => rows(`select count(*) as n, sum(crc32(text_value)) as crc from ${name}`)
  t.same(await sum('round_trip_copy'), await sum('round_trip'))
})

t.test('lists the tables of the product and no others', async t => {
  const tables = await withSnapshot(snapshot => snapshot.tables())
  const names = tables.map(({ name }) => name)
  t.ok(names.includes('users') && names.includes('hook_attempts'))
  t.notOk(names.includes('round_trip'))
  t.notOk(names.includes('schema_migrations'))
  t.ok(tables.every(({ key, columns }) => key.length > 0 && columns.length > 0))
  const tokens = tables.find(({ name }) => name === 'access_tokens')
  t.same(
    tokens?.columns.filter(({ binary }) => binary).map(({ name }) => name),
    ['token_hash', 'encrypted']
  )
})
