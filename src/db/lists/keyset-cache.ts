// Places in long lists: which row has how many rows before it. The database can only count up to a page that lies far from
// both ends of its list: 90 ms for the middle of a million. Whoever has read such a page knows the places of its rows, and a
// page near a known place begins there. Places live in the memory of this process, and only as long as they are right.
import { LRUCache } from 'lru-cache'
import { Limiter } from '../../lib/limiter.js'
import { forgetWithPool } from '../connect/connection.js'
import type { Value } from '../connect/sql.js'
import { afterCommit } from '../connect/transact.js'
import { lastChange } from './count-cache.js'

/** A row of a list that is in the order of a time and the id. */
export interface Placed {
  readonly at: Date
  readonly id: number
}

export interface Place extends Placed {
  /** How many rows stand before it. */
  readonly rank: number
}

/** How the places of a list are kept: see SteadyList and MovingList. */
interface Keeping {
  readonly key: string
  readonly version: string
  readonly steady: boolean
}

/** Between two known places. An index passes so many entries in less than 0.1 ms. */
const SPACING = 200
/** Of one list; when there are more, every second one goes. With the number of lists it bounds the memory to some 10 MB. */
const MOST = 2000
const LISTS = 50
/** The version of a steady list follows every change; the limit bounds what a row from outside, such as a restored one, does. */
const STEADY_MS = 60_000
/** The version of others does not follow the changes of other processes. As totals, they may be this old. */
const OTHER_MS = 5000
/** Younger rows of a steady list may still get rows before them: of a slow transaction, or of a server whose clock is behind. */
const SETTLED_MS = 300_000

const lists = new LRUCache<string, Places>({ max: LISTS })
forgetWithPool(() => lists.clear())

/** The known places of a list, in the order of their ranks. */
export class Places {
  #places: Place[] = []
  #spacing = SPACING
  readonly #until: number
  readonly #turns = new Limiter({ capacity: 1 })

  constructor(
    readonly version: string,
    readonly steady: boolean
  ) {
    this.#until = Date.now() + (steady ? STEADY_MS : OTHER_MS)
  }

  get isOver(): boolean {
    return Date.now() > this.#until
  }

  /** The nearest places up to the first rank of a page, and from its last rank on. */
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

  /** Runs what takes long after all others that do. */
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

/** Returns the places of a list. What was known of an earlier version is forgotten. */
export function placesOf({ key, version, steady }: Keeping): Places {
  const known = lists.get(key)
  if (known && known.version === version && !known.isOver) return known
  const places = new Places(version, steady)
  lists.set(key, places)
  return places
}

/** What the lists are of whose rows no kept number follows. */
export type Moving = 'Issue' | 'MergeRequest' | 'Todo'

const moves = new Map<Moving, number>()

/** Tells that a row of a list came, went, or has changed. Call it in the transaction of the change. */
export const moved = (kind: Moving): void => afterCommit(() => void moves.set(kind, (moves.get(kind) ?? 0) + 1))

/**
 * The version of lists that no kept number follows: it changes with each change of a row by this process, and with those
 * that the audit knows, which say who may see what.
 */
export const versionOf = async (kind: Moving): Promise<string> => `${moves.get(kind) ?? 0} ${await lastChange()}`

/** The condition that a row stands at a place or beyond it, in a direction. */
export function fromPlace(column: string, id: string, direction: 'asc' | 'desc', place: Placed) {
  const sign = direction === 'asc' ? '>' : '<'
  const values: Value[] = [place.at, place.at, place.id]
  return { sql: `(${column} ${sign} ? or (${column} = ? and ${id} ${sign}= ?))`, values }
}
