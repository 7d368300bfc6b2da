// Tests that a page is the same no matter from which end of the list it is read.

import { execute, rows } from '../../../src/db/connect/sql.js'
import { countTotal, pageOf, type Reading, window } from '../../../src/db/lists/paginate.js'
import { testDatabase } from '../../helpers/database.js'
import t from '../../helpers/tap.js'

await testDatabase()
const COUNT = 2345
const all = Array.from({ length: COUNT }, (_, at) => ({ id: at + 1 }))

await execute('create table things (id int primary key)')
await execute(`insert into things values ${all.map(({ id }) => `(${id})`).join(', ')}`)

for (const direction of ['asc', 'desc'] as const) {
  t.test(`every page of a list in the order ${direction}`, async t => {
    const listed = direction === 'asc' ? all : all.toReversed()
    for (const [perPage, pages] of [
      [100, [1, 10, 11, 12, 13, 23, 24, 25]],
      [20, [1, 50, 51, 52, 58, 59, 60, 116, 117, 118, 119, 1_000_000]],
      [1, [1172, 1173, 1174, 2345, 2346]]
    ] as const) {
      for (const page of pages) {
        const read = ({ direction, sql }: Reading) =>
          rows<{ id: number }>(`select id from things order by id ${direction} ${sql}`)
        const found = await pageOf(
          window({ page, per_page: perPage }),
          countTotal('select count(*) as total from things', []),
          direction,
          read
        )
        const items = listed.slice((page - 1) * perPage, page * perPage)
        t.strictSame(found, { items, total: COUNT, page, perPage }, `page ${page} of ${perPage}`)
      }
    }
  })
}

t.test('the last page passes few rows', async t => {
  const readings: Reading[] = []
  const read = async (reading: Reading) => {
    readings.push(reading)
    return []
  }
  await pageOf(window({ page: 118 }), Promise.resolve(COUNT), 'desc', read)
  t.strictSame(readings, [{ direction: 'asc', sql: 'limit 5 offset 0' }])
})
