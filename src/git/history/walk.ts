// Walks through a history in the order of `git log`: of the commits that are known and not yet taken, it takes the
// newest, and of equally new commits the one that became known first. Commits come from the commit-graph. Commits that
// are newer than the graph are read one by one.

import { DamagedRepository, readCommit } from '../objects/objects.js'
import { nextPiece } from '../objects/time-slices.js'
import type { CommitGraph, Position } from './commit-graph.js'

/** For a commit in the graph, its position there. For a commit that was read, `-1 - INDEX`, with its index in `#read`. */
type Place = Position

interface Read {
  readonly id: string
  readonly date: number
  readonly parentIds: readonly string[]
}

/** At most this many commits outside of the graph are read. Beyond that, the caller must ask git. */
export const MOST_READ = 1000
/** After this many commits (some milliseconds of work) the walk lets other work run. */
const STRETCH = 8192
/** Bytes for each commit of the graph: its place in the order, a mark, and its share of the heap. */
const PER_COMMIT = 16
const PER_READ = 300

/** The walk stops as soon as it has enough commits for the caller, and later continues from there. */
export class HistoryWalk {
  /** The commits that were taken, in order. */
  readonly #order: Place[] = []
  readonly #read: Read[] = []
  readonly #placeOfRead = new Map<string, Place>()
  readonly #seen: Uint8Array
  readonly #heap: Place[] = []
  readonly #heapKeys: Key[] = []
  #turn = 0
  #working: Promise<void>

  constructor(
    private readonly repository: string,
    readonly graph: CommitGraph | null,
    tip: string
  ) {
    this.#seen = new Uint8Array(graph?.size ?? 0)
    this.#working = this.#meet(tip)
    this.#working.catch(() => {})
  }

  /** The maximum number of bytes that this walk may take. */
  get bytes(): number {
    return (this.graph?.size ?? 0) * PER_COMMIT + MOST_READ * PER_READ
  }

  /**
   * Returns the ids of `count` commits after the first `skip`; with `until` (seconds since 1970), only commits that are
   * not newer. Throws RangeError when the caller must ask git.
   */
  async list(skip: number, count: number, until?: number): Promise<string[]> {
    if (until !== undefined) return await this.#listUntil(skip, count, until)
    if (this.#order.length < skip + count) await this.#reach(skip + count)
    return this.#order.slice(skip, skip + count).map(place => this.#idOf(place))
  }

  async #listUntil(skip: number, count: number, until: number): Promise<string[]> {
    const ids: string[] = []
    let passed = 0
    for (let at = 0; ids.length < count; at++) {
      if (at === this.#order.length && !(await this.#reach(at + skip + count - passed))) break
      const place = this.#order[at] as Place
      if (this.#dateOf(place) > until) continue
      if (passed++ >= skip) ids.push(this.#idOf(place))
    }
    return ids
  }

  /** Takes commits until `length` commits are taken. Returns false when the history has no further commits. */
  async #reach(length: number): Promise<boolean> {
    const before = this.#order.length
    // Two callers must not walk at the same time.
    const turn = this.#working.then(() => this.#advance(length))
    this.#working = turn
    this.#working.catch(() => {})
    await turn
    return this.#order.length > before
  }

  async #advance(length: number): Promise<void> {
    while (this.#order.length < length && this.#heap.length > 0) {
      const place = this.#pop()
      this.#order.push(place)
      if (place >= 0) for (const parent of this.#parentsInGraph(place)) this.#meetInGraph(parent)
      else for (const id of this.#readAt(place).parentIds) await this.#meet(id)
      if (this.#order.length % STRETCH === 0) await nextPiece()
    }
  }

  async #meet(id: string): Promise<void> {
    const at = this.graph?.find(id)
    if (at !== undefined) return this.#meetInGraph(at)
    if (this.#placeOfRead.has(id)) return
    if (this.#read.length === MOST_READ) throw new RangeError('too many commits are outside of the commit-graph')
    const commit = await readCommit(this.repository, id)
    if (!commit) throw new DamagedRepository(this.repository, `the commit ${id} is missing`)
    const place = -1 - this.#read.length
    const date = commit.committedDate.getTime() / 1000
    this.#read.push({ id, date, parentIds: commit.parentIds })
    this.#placeOfRead.set(id, place)
    this.#push(place, date)
  }

  #meetInGraph(at: Position): void {
    if (this.#seen[at] === 1) return
    this.#seen[at] = 1
    this.#push(at, this.#dateOf(at))
  }

  #parentsInGraph(at: Position): Position[] {
    return this.graph?.parentsOf(at) ?? []
  }

  #readAt(place: Place): Read {
    return this.#read[-1 - place] as Read
  }

  #dateOf(place: Place): number {
    return place < 0 ? this.#readAt(place).date : (this.graph?.dateOf(place) ?? 0)
  }

  #idOf(place: Place): string {
    return place < 0 ? this.#readAt(place).id : (this.graph?.idOf(place) ?? '')
  }

  // A binary heap with the newest commit on top.

  #push(place: Place, date: number): void {
    const [heap, keys] = [this.#heap, this.#heapKeys]
    const key = { date, turn: this.#turn++ }
    let at = heap.length
    for (; at > 0; at = (at - 1) >>> 1) {
      const above = (at - 1) >>> 1
      if (!isBefore(key, keys[above] as Key)) break
      heap[at] = heap[above] as Place
      keys[at] = keys[above] as Key
    }
    heap[at] = place
    keys[at] = key
  }

  #pop(): Place {
    const [heap, keys] = [this.#heap, this.#heapKeys]
    const top = heap[0] as Place
    const place = heap.pop() as Place
    const key = keys.pop() as Key
    const size = heap.length
    if (size === 0) return top
    let at = 0
    for (;;) {
      let below = at * 2 + 1
      if (below >= size) break
      if (below + 1 < size && isBefore(keys[below + 1] as Key, keys[below] as Key)) below++
      if (!isBefore(keys[below] as Key, key)) break
      heap[at] = heap[below] as Place
      keys[at] = keys[below] as Key
      at = below
    }
    heap[at] = place
    keys[at] = key
    return top
  }
}

interface Key {
  readonly date: number
  readonly turn: number
}

const isBefore = (a: Key, b: Key) => a.date > b.date || (a.date === b.date && a.turn < b.turn)
