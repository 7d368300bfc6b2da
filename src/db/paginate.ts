// Pages of lists ("Limits"): 20 items by default, at most 100.
import { BadParameters } from '../errors.js'

export { countTotal } from './totals.js'

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

/** Rows that a list of everything reads at once. */
export const PART = 500

const DEFAULT = 20
const MAXIMUM = 100
/** Pages after this offset are empty: such a large offset is a mistake or an attack. */
const DEEPEST = 10_000_000

/**
 * Returns the part of a list that a request asks for. A page below 1 means page 1, and per_page 0 means the default.
 * Throws BadParameters when per_page is negative.
 */
export function window({ page = 1, per_page: perPage = DEFAULT }: PageRequest): Window {
  if (perPage < 0) throw new BadParameters('per_page is invalid')
  const at = Math.max(page, 1)
  const size = perPage === 0 ? DEFAULT : Math.min(perPage, MAXIMUM)
  const offset = Math.min((at - 1) * size, DEEPEST)
  return { page: at, perPage: size, sql: `limit ${size} offset ${offset}` }
}

/** From this offset on, a page may be read from the other end of its list. An index passes 1,000 entries in 0.3 ms. */
const FAR = 1000

export type Direction = 'asc' | 'desc'

/** How to read a page: the order of its statement, and its `limit N offset M`. */
export interface Reading {
  readonly direction: Direction
  readonly sql: string
}

/**
 * Returns how to read a page. One in the second half is read from the end, against the order of the list, so that the last page
 * of 100,000 rows costs what the first one costs; only far pages wait for the total, which is kept in most cases. The total must
 * follow every change of the list, as one of countTotal does for what the audit knows: otherwise rows would be missing between
 * a page of the first half and one of the second.
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
  return { direction: direction === 'asc' ? 'desc' : 'asc', sql: `limit ${size} offset ${Math.max(after, 0)}` }
}

/** Reads a page and the total of its list; see readingOf. */
export async function pageOf<T>(
  part: Window,
  count: Promise<number>,
  direction: Direction,
  read: (reading: Reading) => Promise<T[]>
): Promise<Page<T>> {
  const reading = await readingOf(part, direction, () => count)
  const [items, total] = await Promise.all([read(reading), count])
  const { page, perPage } = part
  return { items: reading.direction === direction ? items : items.reverse(), total, page, perPage }
}
