// Tests that a page is the same no matter from which place it is read. A list in memory stands for the database.

import { transact } from '../../../src/db/connect/transact.js'
import { moved, type Placed, Places, placesOf, versionOf } from '../../../src/db/lists/keyset-cache.js'
import {
  type Direction,
  type PlacedReading,
  pageOfMoving,
  pageOfSteady,
  type Reading,
  window
} from '../../../src/db/lists/paginate.js'
import { requestScope } from '../../../src/lib/request-scope.js'
import { testDatabase } from '../../helpers/database.js'
import t from '../../helpers/tap.js'

await testDatabase()

/** Returns the same numbers in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (state * 1103515245 + 12345) % 2147483648
    return Math.floor((state / 2147483648) * below)
  }
}

const OLD = Date.UTC(2020, 0, 1)
const compare = (a: Placed, b: Placed) => a.at.getTime() - b.at.getTime() || a.id - b.id
const numbersOf = ({ sql }: Reading) => (/^limit (\d+) offset (\d+)$/.exec(sql) ?? []).slice(1).map(Number)

/** Reads rows like a statement. `passed` counts the rows that it passes. */
function store(rows: Placed[]) {
  const passed = { rows: 0 }
  const read = ({ direction, sql, from, until }: PlacedReading): Placed[] => {
    const [limit = 0, offset = 0] = numbersOf({ direction, sql })
    t.equal(until, limit + offset)
    const ordered = rows.toSorted((a, b) => (direction === 'asc' ? compare(a, b) : compare(b, a)))
    const begun = from
      ? ordered.filter(row => (direction === 'asc' ? compare(row, from) >= 0 : compare(row, from) <= 0))
      : ordered
    passed.rows += offset
    return begun.slice(offset, offset + limit)
  }
  return { rows, passed, read }
}

const expected = (rows: readonly Placed[], direction: Direction, page: number, size: number) =>
  rows.toSorted((a, b) => (direction === 'asc' ? compare(a, b) : compare(b, a))).slice((page - 1) * size, page * size)

t.test('a steady list is correct after each change, and reading all pages passes few rows twice', async t => {
  const random = numbers(7)
  let id = 4000
  let moves = 0
  const { rows, passed, read } = store(
    Array.from({ length: id }, (_, at) => ({ id: at + 1, at: new Date(OLD + random(2000) * 1000) }))
  )
  const pageOf = (direction: Direction, page: number, size: number) => {
    const counts = { total: rows.length, version: String(moves) }
    return pageOfSteady<Placed>(window({ page, per_page: size }), {
      key: 'steady',
      direction,
      counts,
      placed: row => row,
      read: async reading => ({ items: read(reading), counts })
    })
  }
  for (const direction of ['desc', 'asc'] as const) {
    passed.rows = 0
    for (let page = 1; page <= 201; page++) {
      const found = await pageOf(direction, page, 20)
      t.strictSame([found.total, found.items], [4000, expected(rows, direction, page, 20)], `page ${page}`)
    }
    t.ok(passed.rows < 4000 * 8, `${passed.rows} rows were passed; 200 pages of offsets are 400,000`)
  }
  for (let step = 0; step < 120; step++) {
    const what = random(4)
    // A new row is the youngest, or it changes the version.
    if (what < 2) rows.push({ id: ++id, at: new Date() })
    else moves++
    if (what === 2) rows.splice(random(rows.length), 1)
    if (what === 3) rows.push({ id: ++id, at: new Date(OLD + random(2000) * 1000) })
    for (let look = 0; look < 3; look++) {
      const [direction, size] = [random(2) ? 'asc' : 'desc', 1 + random(100)] as const
      const page = 1 + random(Math.ceil(rows.length / size) + 1)
      t.strictSame((await pageOf(direction, page, size)).items, expected(rows, direction, page, size), `step ${step}`)
    }
  }
})

t.test('rows that are added while a page is read from the young end cause no wrong place', async t => {
  const { rows, read } = store(Array.from({ length: 3000 }, (_, at) => ({ id: at + 1, at: new Date(OLD + at * 1000) })))
  const pageOf = (direction: Direction, page: number, late = 0) => {
    const before = rows.length
    return pageOfSteady<Placed>(window({ page }), {
      key: 'growing',
      direction,
      counts: { total: before, version: '0' },
      placed: row => row,
      read: async reading => {
        for (let more = 0; more < late; more++) rows.push({ id: rows.length + 1, at: new Date() })
        return { items: read(reading), counts: { total: rows.length, version: '0' } }
      }
    })
  }
  await pageOf('desc', 40, 7)
  for (const page of [40, 41, 60]) t.strictSame((await pageOf('desc', page)).items, expected(rows, 'desc', page, 20))
  for (const page of [100, 108, 109]) t.strictSame((await pageOf('asc', page)).items, expected(rows, 'asc', page, 20))
})

t.test('a list without a stored version is correct after each change by this process', async t => {
  const random = numbers(11)
  const { rows, passed, read } = store(
    Array.from({ length: 3000 }, (_, at) => ({ id: at + 1, at: new Date(OLD + random(1000) * 1000) }))
  )
  const pageOf = (direction: Direction, page: number, size = 20) =>
    pageOfMoving<Placed>(window({ page, per_page: size }), {
      key: 'moving',
      direction,
      count: Promise.resolve(rows.length),
      version: () => versionOf('Todo'),
      placed: row => row,
      read: async reading => read(reading)
    })
  for (let page = 1; page <= 151; page++) {
    t.strictSame((await pageOf('desc', page)).items, expected(rows, 'desc', page, 20), `page ${page}`)
  }
  t.ok(passed.rows < 3000 * 8, `${passed.rows} rows were passed`)
  for (let step = 0; step < 60; step++) {
    if (random(3) === 0) {
      await transact(async () => {
        rows.splice(random(rows.length), 1)
        rows.push({ id: 10_000 + step, at: new Date(OLD + random(1000) * 1000) })
        moved('Todo')
      })
    }
    const [direction, size] = [random(2) ? 'asc' : 'desc', 1 + random(100)] as const
    const page = 1 + random(Math.ceil(rows.length / size) + 1)
    t.strictSame((await pageOf(direction, page, size)).items, expected(rows, direction, page, size), `step ${step}`)
  }
})

t.test('places keep a distance, and a list has at most 2,000 of them', async t => {
  const places = new Places('', false)
  const add = (rank: number) => places.add({ rank, id: rank, at: new Date(OLD) })
  for (let rank = 0; rank < 1_000_000; rank += 100) add(rank)
  const ranks: number[] = []
  for (let rank = 1_000_000; ; ) {
    const { before } = places.around(rank, rank)
    if (!before) break
    ranks.push(before.rank)
    rank = before.rank - 1
  }
  t.ok(ranks.length > 1000 && ranks.length <= 2000, `${ranks.length} places`)
  t.ok(ranks.every((rank, at) => at === 0 || (ranks[at - 1] ?? 0) - rank >= 200))
})

t.test('young rows of a steady list have no place yet', async t => {
  const places = new Places('', true)
  places.add({ rank: 500, id: 1, at: new Date(Date.now() - 60_000) })
  t.equal(places.around(501, 501).before, undefined)
  places.add({ rank: 500, id: 1, at: new Date(Date.now() - 600_000) })
  t.match(places.around(501, 501).before, { rank: 500 })
})

t.test('of concurrent reads of the same far page, only one passes the rows', async t => {
  const { rows, passed, read } = store(
    Array.from({ length: 30_000 }, (_, at) => ({ id: at + 1, at: new Date(OLD + at * 1000) }))
  )
  const ask = () =>
    pageOfMoving<Placed>(window({ page: 1000 }), {
      key: 'together',
      direction: 'asc',
      count: Promise.resolve(rows.length),
      version: () => Promise.resolve('0'),
      placed: row => row,
      read: async reading => read(reading)
    })
  const found = await Promise.all(Array.from({ length: 16 }, ask))
  for (const { items } of found) t.strictSame(items, rows.slice(19_980, 20_000))
  t.ok(passed.rows < 25_000, `${passed.rows} rows were passed`)
})

t.test('an answer that known places made is not kept for longer than they are', async t => {
  const keeping = { key: 'kept', version: '1', steady: false }
  const { until } = placesOf(keeping)
  // The clock moves.
  await new Promise(resolve => setTimeout(resolve, 5))
  const reading = { statements: new Set<string>(), until: Infinity }
  requestScope.run({ request: '', client: '', reading }, () => placesOf(keeping))
  t.equal(reading.until, until)
})
