// Tests that a page is the same no matter from which end of the list it is read.

import { execute, rows } from '../../../src/db/connect/sql.js'
import { recountTotals } from '../../../src/db/lists/count-cache.js'
import { fromId } from '../../../src/db/lists/keyset-cache.js'
import { type Direction, type PlacedReading, pageOfIds, window } from '../../../src/db/lists/paginate.js'
import { testDatabase } from '../../helpers/database.js'
import { statementsOf } from '../../helpers/statements.js'
import t from '../../helpers/tap.js'

await testDatabase()
const COUNT = 2345
const all = Array.from({ length: COUNT }, (_, at) => ({ id: at + 1 }))

await execute('create table things (id int primary key)')
await execute(`insert into things values ${all.map(({ id }) => `(${id})`).join(', ')}`)

const counting = { sql: 'select count(*) as total from things', values: [] }
const idOf = ({ id }: { readonly id: number }) => id
const read = ({ direction, sql, from }: PlacedReading) => {
  const { sql: where, values } = from ? fromId('id', direction, from) : { sql: 'true', values: [] }
  return rows<{ id: number }>(`select id from things where ${where} order by id ${direction} ${sql}`, values)
}
const pageOf = (direction: Direction, page: number, perPage: number) =>
  pageOfIds(window({ page, per_page: perPage }), { direction, counting, idOf, read })

for (const direction of ['asc', 'desc'] as const) {
  t.test(`every page of a list in the order ${direction}`, async t => {
    const listed = direction === 'asc' ? all : all.toReversed()
    for (const [perPage, pages] of [
      [100, [1, 10, 11, 12, 13, 23, 24, 25]],
      [20, [1, 50, 51, 52, 58, 59, 60, 116, 117, 118, 119, 1_000_000]],
      [1, [1172, 1173, 1174, 2345, 2346]]
    ] as const) {
      for (const page of pages) {
        const items = listed.slice((page - 1) * perPage, page * perPage)
        t.strictSame(
          await pageOf(direction, page, perPage),
          { items, total: COUNT, page, perPage },
          `page ${page} of ${perPage}`
        )
      }
    }
  })
}

t.test('the last page passes few rows', async t => {
  const readings: PlacedReading[] = []
  await pageOfIds(window({ page: 118 }), {
    direction: 'desc',
    counting: { sql: 'select count(*) as total from things where true', values: [] },
    idOf,
    read: async reading => {
      readings.push(reading)
      return []
    }
  })
  t.match(readings, [{ direction: 'asc', sql: 'limit 5 offset 0' }])
})

t.test('a page far from both ends begins at a known place', async t => {
  const passed: number[] = []
  const far = (page: number) =>
    pageOfIds(window({ page }), {
      direction: 'desc',
      counting: { sql: 'select count(*) as total from things where id > 0', values: [] },
      idOf,
      read: reading => {
        passed.push(reading.until)
        return read(reading)
      }
    })
  for (const page of [60, 60, 61]) await far(page)
  t.same(
    passed.map(until => until > 1000),
    [true, false, false]
  )
})

t.test('a list of less than one page is not counted', async t => {
  const few = { sql: 'select count(*) as total from things where id <= 7', values: [] }
  const statements = await statementsOf(async () => {
    const found = await pageOfIds(window({}), {
      direction: 'asc',
      counting: few,
      idOf,
      read: ({ sql }) => rows<{ id: number }>(`select id from things where id <= 7 order by id ${sql}`)
    })
    t.same([found.total, found.items.length], [7, 7])
  })
  t.equal(statements.length, 1)
})

t.test('new rows move no known place, and a list whose rows move is always read by offset', async t => {
  await pageOf('desc', 60, 20)
  await execute(`insert into things values ${[1, 2, 3].map(more => `(${COUNT + more})`).join(', ')}`)
  const listed = [...all, { id: COUNT + 1 }, { id: COUNT + 2 }, { id: COUNT + 3 }].toReversed()
  recountTotals()
  for (const page of [60, 61, 30]) {
    t.strictSame((await pageOf('desc', page, 20)).items, listed.slice((page - 1) * 20, page * 20), `page ${page}`)
  }
  const readings: PlacedReading[] = []
  for (let time = 0; time < 2; time++) {
    await pageOfIds(window({ page: 60 }), {
      direction: 'desc',
      counting,
      moves: true,
      idOf,
      read: reading => {
        readings.push(reading)
        return read(reading)
      }
    })
  }
  t.same(
    readings.map(({ sql, from }) => [sql, from]),
    Array(2).fill(['limit 20 offset 1180', undefined])
  )
})
