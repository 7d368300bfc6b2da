// Caches places in long lists: the number of rows before a certain row. To reach a page that is far from both ends of
// its list, the database can only count: 90 ms for the middle of a million. After such a page has been read, the places
// of its rows are known, and a page near a known place begins there. Places are kept in the memory of this process, and
// only while they are correct.
import { LRUCache } from 'lru-cache'
import { Limiter } from '../../lib/limiter.js'
import { noteFreshness } from '../../lib/request-scope.js'
import { forgetWithPool } from '../connect/connection.js'
import type { Fragment, Value } from '../connect/sql.js'
import { afterCommit } from '../connect/transact.js'
import { lastChange } from './count-cache.js'

/** A row of a list that is sorted by a time and the id. */
export interface Placed {
  readonly at: Date
  readonly id: number
}

export interface Place extends Placed {
  /** The number of rows before it. */
  readonly rank: number
}

/** How the places of a list are kept: see SteadyList and MovingList. */
interface Keeping {
  readonly key: string
  readonly version: string
  readonly steady: boolean
}

/** The minimum number of rows between two known places. An index passes this many entries in less than 0.1 ms. */
const SPACING = 200
/**
 * The maximum number of places of one list; beyond it, every second place is dropped. Together with the number of
 * lists, this limits the memory to about 10 MB.
 */
const MOST = 2000
const LISTS = 50
/**
 * Milliseconds. The version of a steady list follows every change. This limits the effect of rows that were changed in
 * another way, such as by a restore.
 */
const STEADY_MS = 60_000
/** Milliseconds. The version of other lists does not follow the changes of other processes. Like totals, they may be this old. */
const OTHER_MS = 5000
/**
 * Milliseconds. Rows may still be inserted before younger rows of a steady list: by a slow transaction, or by a server
 * whose clock is behind.
 */
const SETTLED_MS = 300_000

const lists = new LRUCache<string, Places>({ max: LISTS })
forgetWithPool(() => lists.clear())

/** The known places of a list, ordered by rank. */
export class Places {
  #places: Place[] = []
  #spacing = SPACING
  /** By `Date.now()`. */
  readonly until: number
  readonly #turns = new Limiter({ capacity: 1 })

  constructor(
    readonly version: string,
    readonly steady: boolean
  ) {
    this.until = Date.now() + (steady ? STEADY_MS : OTHER_MS)
  }

  get isOver(): boolean {
    return Date.now() > this.until
  }

  /** Returns the nearest places at or before the first rank of a page, and at or after its last rank. */
  around(first: number, last: number): { readonly before: Place | undefined; readonly after: Place | undefined } {
    return { before: this.#places[this.#firstFrom(first + 1) - 1], after: this.#places[this.#firstFrom(last)] }
  }

  add({ rank, at, id }: Place): void {
    if (this.steady && at.getTime() > Date.now() - SETTLED_MS) return
    const { before, after } = this.around(rank, rank)
    if (rank - (before?.rank ?? 0) < this.#spacing || (after?.rank ?? Infinity) - rank < this.#spacing) return
    this.#places.splice(this.#firstFrom(rank), 0, { rank, at, id })
    if (this.#places.length <= MOST) return
    this.#places = this.#places.filter((_, index) => index % 2 === 0)
    this.#spacing *= 2
  }

  /** Runs slow work after all other slow work of this list. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.run({}, work)
  }

  #firstFrom(rank: number): number {
    let [low, high] = [0, this.#places.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#places[middle]?.rank ?? 0) < rank) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Returns the places of a list. Places of an earlier version are dropped. */
export function placesOf({ key, version, steady }: Keeping): Places {
  const known = lists.get(key)
  const places = known && known.version === version && !known.isOver ? known : new Places(version, steady)
  if (places !== known) lists.set(key, places)
  noteFreshness(places.until)
  return places
}

/** The kinds of records whose lists have no stored version number. */
export type Moving = 'Issue' | 'MergeRequest' | 'Todo'

const moves = new Map<Moving, number>()

/** Declares that a row of a list was added, removed or changed. Call it in the transaction of the change. */
export const moved = (kind: Moving): void => afterCommit(() => void moves.set(kind, (moves.get(kind) ?? 0) + 1))

/**
 * Returns the version of lists without a stored version number. It changes with each change of a row by this process,
 * and with each change that the audit records, because those decide who may see what.
 */
export const versionOf = async (kind: Moving): Promise<string> => `${moves.get(kind) ?? 0} ${await lastChange()}`

/** Returns the condition that a row is at a place or after it, in a direction. */
export function fromPlace(column: string, id: string, direction: 'asc' | 'desc', place: Placed) {
  const sign = direction === 'asc' ? '>' : '<'
  const values: Value[] = [place.at, place.at, place.id]
  return { sql: `(${column} ${sign} ? or (${column} = ? and ${id} ${sign}= ?))`, values }
}

/** A whole number that all rows of a list have, such as a flag. */
export interface Common {
  readonly column: string
  readonly value: number
}

/**
 * Does the same for a list whose index begins with a number that all its rows have. Use it in place of the condition `column = value`, and
 * sort by this column first: with that condition, MariaDB may read all rows with this number, as it expects about as many from the place on.
 */
export function fromPlaceAmong(
  { column, value }: Common,
  time: string,
  id: string,
  direction: 'asc' | 'desc',
  place: Placed
): Fragment {
  const from = fromPlace(time, id, direction, place)
  const [sign, end] = direction === 'asc' ? ['>', `< ${value + 1}`] : ['<', `> ${value - 1}`]
  return {
    sql: `${column} ${end} and (${column} ${sign} ${value} or ${column} = ${value} and ${from.sql})`,
    values: from.values
  }
}

/** Does the same for a list in the order of ids. */
export const fromId = (id: string, direction: 'asc' | 'desc', place: Placed): Fragment => ({
  sql: `${id} ${direction === 'asc' ? '>=' : '<='} ?`,
  values: [place.id]
})
