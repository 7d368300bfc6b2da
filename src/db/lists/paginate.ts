// Pages of lists ("Limits"): 20 items by default, at most 100.
import { BadParameters } from '../../errors.js'
import { lruOf } from '../../lib/lru.js'
import { forgetWithPool } from '../connect/connection.js'
import type { Fragment } from '../connect/sql.js'
import { changeFor, countTotal } from './count-cache.js'
import { type Place, type Placed, type Places, placesOf } from './keyset-cache.js'

export { countTotal } from './count-cache.js'

export interface PageRequest {
  readonly page?: number
  readonly per_page?: number
}

export interface Window {
  readonly page: number
  readonly perPage: number
  /** `limit N offset M`. Both are whole numbers, so they can be part of the statement itself. */
  readonly sql: string
}

export interface Page<T> {
  readonly items: readonly T[]
  readonly total: number
  readonly page: number
  readonly perPage: number
}

/** The JSON of a record, and the version of this text. */
export interface RecordText {
  readonly text: string
  readonly version: string
}

/** What a reply of the server offers for lists of kept texts. */
export interface TextReply<Sent> {
  /** Returns the JSON of a record of the list that the route answers, by its schema. */
  jsonOf(record: object): string
  /** Sends a page of records by their JSON. The version of the answer is made from those of the texts. */
  pageOfTexts(page: Page<RecordText>): Sent
}

/** The number of rows that a list of everything reads at once. */
export const PART = 500

const DEFAULT = 20
const MAXIMUM = 100
/** Pages after this offset are empty: such a large offset is a mistake or an attack. */
const DEEPEST = 10_000_000

/**
 * Returns the part of a list that a request selects. A page below 1 means page 1, and per_page 0 means the default.
 * Throws BadParameters when per_page is negative.
 */
export function window({ page = 1, per_page: perPage = DEFAULT }: PageRequest): Window {
  if (perPage < 0) throw new BadParameters('per_page is invalid')
  const at = Math.max(page, 1)
  const size = perPage === 0 ? DEFAULT : Math.min(perPage, MAXIMUM)
  const offset = Math.min((at - 1) * size, DEEPEST)
  return { page: at, perPage: size, sql: `limit ${size} offset ${offset}` }
}

/** From this offset on, a page may be read from another row than the first. An index passes 1,000 entries in 0.3 ms. */
const FAR = 1000
/** The same for a list whose places are cached: those cost nothing. */
const FAR_FROM_PLACES = 200

export type Direction = 'asc' | 'desc'

/** How to read a page: the direction of its statement, and its `limit N offset M`. */
export interface Reading {
  readonly direction: Direction
  readonly sql: string
}

/** How to read a page of a list whose places are cached. */
export interface PlacedReading extends Reading {
  /** The number of rows that are read or passed: a list that is combined from parts takes this many of each part. */
  readonly until: number
  /** The place at which the statement begins. */
  readonly from?: Place
}

const opposite = (direction: Direction): Direction => (direction === 'asc' ? 'desc' : 'asc')

/** Returns whether `readingOf` needs the total for this page. */
export const isFarFromStart = (part: Window): boolean => offsetOf(part) >= FAR

/**
 * Returns how to read a page. A page in the second half is read from the end, against the order of the list, so that
 * the last page of 100,000 rows costs as much as the first one. Only far pages wait for the total, which is usually
 * cached. The total must follow every change of the list, as one of countTotal does for changes that the audit records:
 * otherwise rows would be missing between a page of the first half and one of the second.
 */
export async function readingOf(
  { page, perPage, sql }: Window,
  direction: Direction,
  count: () => Promise<number>
): Promise<Reading> {
  const offset = (page - 1) * perPage
  if (offset < FAR) return { direction, sql }
  const total = await count()
  const after = total - offset - perPage
  if (after > offset) return { direction, sql }
  const size = Math.max(Math.min(perPage, total - offset), 0)
  return { direction: opposite(direction), sql: `limit ${size} offset ${Math.max(after, 0)}` }
}

/** A list whose new rows are at its young end, or change its version. The total must follow every change, as for readingOf. */
interface GrowingList<T> extends PlacedList<T, readonly T[]> {
  /** Reads the version first, so that a change between both only makes places useless. */
  readonly count: () => Promise<Counts>
}

/** Reads a far page of such a list from the nearest known place. Ranks are counted from the oldest row, so new rows do not move them. */
export async function pageOfGrowing<T>(part: Window, list: GrowingList<T>): Promise<Page<T>> {
  const { direction, key, read, placed, count } = list
  const { page, perPage } = part
  const { total, version } = await count()
  const places = placesOf({ key, version, steady: false })
  const items = await fromOldest(part, { direction, total, places }, async (way, ranks) => {
    const found = ascending(await read(way), way)
    // Rows that were added before the read have shifted the ranks that are counted from the young end.
    const isSure = way.from !== undefined || way.direction === 'asc' || (await count()).total === total
    if (isSure) keep(places, found.map(placed), ranks)
    return found
  })
  return { items, total, page, perPage }
}

interface Ranked {
  readonly direction: Direction
  readonly total: number
  readonly places: Places
}

/** Reads a page by ranks that are counted from the oldest row. `read` returns the rows from the oldest one on. */
async function fromOldest<T>(
  part: Window,
  { direction, total, places }: Ranked,
  read: (way: PlacedReading, ranks: Part) => Promise<readonly T[]>
): Promise<readonly T[]> {
  const offset = offsetOf(part)
  const size = Math.min(part.perPage, total - offset)
  if (size <= 0) return []
  const ranks = { first: direction === 'asc' ? offset : total - offset - size, size }
  const found = await byTheNearest(places, 'asc', { ...ranks, total }, way => read(way, ranks))
  return direction === 'asc' ? found : found.toReversed()
}

const ascending = <T>(items: readonly T[], { direction }: Reading): readonly T[] =>
  direction === 'asc' ? items : items.toReversed()

/** A list in the order of ids. New rows have higher ids than all others, or their creation is in the audit. */
interface IdList<T> {
  readonly direction: Direction
  /** Counts the rows, as for countTotal. */
  readonly counting: Fragment
  /** Counts them for far pages, if the other total may be behind new rows. */
  readonly countExactly?: () => Promise<number>
  /** Other rows than new ones may join or leave the list without an event of the audit: a far page passes all rows before it. */
  readonly moves?: boolean
  readonly read: (reading: PlacedReading) => Promise<T[]>
  readonly idOf: (item: T) => number
}

/** Ranks of a list in the order of ids need no time. */
const NO_TIME = new Date(0)
/** The counting statements of lists with more than one page. */
const long = lruOf<string, true>(1000)
forgetWithPool(() => long.clear())

/** Reads a page and the total of a list in the order of ids. A list of less than one page takes only one statement. */
export async function pageOfIds<T>(part: Window, list: IdList<T>): Promise<Page<T>> {
  const { page, perPage, sql } = part
  const { counting, countExactly, direction, idOf, moves, read } = list
  const key = JSON.stringify(counting)
  const count = () => countTotal(counting.sql, counting.values)
  if (isFar(part) && !moves) {
    const placed = (item: T) => ({ at: NO_TIME, id: idOf(item) })
    const counted = async () => ({ version: await changeFor(counting.sql), total: await (countExactly ?? count)() })
    return pageOfGrowing(part, { key, direction, count: counted, read, placed })
  }
  const reading = read({ direction, sql, until: page * perPage })
  if (page > 1 || long.has(key)) {
    const [items, total] = await Promise.all([reading, count()])
    if (total <= perPage) long.delete(key)
    return { items, total, page, perPage }
  }
  const items = await reading
  if (items.length < perPage) return { items, total: items.length, page, perPage }
  long.set(key, true)
  return { items, total: await count(), page, perPage }
}

/** The stored numbers of a list: one statement returns both. */
interface Counts {
  readonly total: number
  readonly version: string
}

interface PlacedList<T, Found> {
  /** Identifies the list: its statement with the values, and its order. */
  readonly key: string
  readonly direction: Direction
  readonly read: (reading: PlacedReading) => Promise<Found>
  readonly placed: (item: T) => Placed
}

/**
 * A list whose exact total and version are stored. A change of its rows or of their order changes the version. A new row does not
 * change it when it is the youngest: ranks are counted from the oldest row, so the ranks of all other rows stay the same.
 */
export interface SteadyList<T> extends PlacedList<T, SteadyItems<T>> {
  readonly counts: Counts
}

/** The rows of a page, and the stored numbers as the same statement has read them; undefined without any row. */
interface SteadyItems<T> {
  readonly items: readonly T[]
  readonly counts: Counts | undefined
}

/** Any other list. Its version may not follow the changes of other processes: see versionOf. */
export interface MovingList<T> extends PlacedList<T, T[]> {
  readonly count: Promise<number>
  readonly version: () => Promise<string>
}

/** Returns whether a page is so far from the beginning that known places help. */
export const isFar = (part: Window): boolean => offsetOf(part) >= FAR_FROM_PLACES

/**
 * Reads a page and the total of a list. A far page is read from the nearest row whose rank is known, so that a client
 * that reads all pages of a list passes each row once. Without such a row, the page is read from the nearer end.
 */
export async function pageOfSteady<T>(part: Window, list: SteadyList<T>): Promise<Page<T>> {
  const { page, perPage } = part
  const { direction, key, read, placed, counts: before } = list
  const { total, version } = before
  const places = placesOf({ key, version, steady: true })
  const items = await fromOldest(part, { direction, total, places }, async (way, { first, size }) => {
    const { items: some, counts } = await read(way)
    const found = ascending(some, way)
    // Rows that were added since the total was read have shifted the ranks that are counted from the young end.
    const moved = way.from || way.direction === 'asc' ? 0 : (counts?.total ?? 0) - total
    if (counts?.version === version) keep(places, found.map(placed), { first: first + moved, size })
    return found
  })
  return { items, total, page, perPage }
}

/** Does the same for a list whose total is not always exact: its ranks are counted from its beginning. */
export async function pageOfMoving<T>(part: Window, list: MovingList<T>): Promise<Page<T>> {
  const { page, perPage } = part
  const [items, total] = await Promise.all([itemsOfMoving(part, list), list.count])
  return { items, total, page, perPage }
}

async function itemsOfMoving<T>(part: Window, { key, direction, version, read, placed }: MovingList<T>): Promise<T[]> {
  const first = offsetOf(part)
  const size = part.perPage
  if (!isFar(part)) return read({ direction, sql: part.sql, until: first + size })
  const places = placesOf({ key: `${direction} ${key}`, version: await version(), steady: false })
  return byTheNearest(places, direction, { first, size, total: Infinity }, async way => {
    const found = await read(way)
    const items = way.direction === direction ? found : found.toReversed()
    keep(places, items.map(placed), { first, size })
    return items
  })
}

interface Part {
  readonly first: number
  readonly size: number
}

/**
 * Reads that pass more rows run one at a time: the next ones then find places. Sixteen of them at once took longer than
 * a statement may.
 */
const PASSED_AT_ONCE = 10_000

function byTheNearest<T>(
  places: Places,
  forward: Direction,
  part: Part & { readonly total: number },
  read: (way: PlacedReading) => Promise<T>
): Promise<T> {
  const way = nearest(places, forward, part)
  return way.until - part.size <= PASSED_AT_ONCE ? read(way) : places.inTurn(() => read(nearest(places, forward, part)))
}

/** Returns the way to read a part of a list that passes the fewest rows. */
function nearest(
  places: Places,
  forward: Direction,
  { first, size, total }: Part & { readonly total: number }
): PlacedReading {
  const { before, after } = places.around(first, first + size - 1)
  const ways: (Pick<PlacedReading, 'direction' | 'from'> & { readonly passes: number })[] = [
    { direction: forward, passes: first },
    { direction: opposite(forward), passes: total - first - size },
    ...(before ? [{ direction: forward, passes: first - before.rank, from: before }] : []),
    ...(after ? [{ direction: opposite(forward), passes: after.rank - first - size + 1, from: after }] : [])
  ]
  const { passes, ...way } = ways.reduce((best, each) => (each.passes < best.passes ? each : best))
  return { ...way, sql: `limit ${size} offset ${passes}`, until: passes + size }
}

/** Keeps the places of both ends of a page. When a row is missing, the other rows may have other ranks. */
function keep(places: Places, rows: readonly Placed[], { first, size }: Part): void {
  if (rows.length !== size) return
  for (const index of [0, size - 1]) {
    const row = rows[index]
    if (row) places.add({ ...row, rank: first + index })
  }
}

const offsetOf = ({ page, perPage }: Window) => Math.min((page - 1) * perPage, DEEPEST)
