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
