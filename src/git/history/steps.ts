// Reads what a walk through a history needs of each commit: from the commit-graph where it has the commit, otherwise from the
// commit itself.
import { readCommit } from '../objects/objects.js'
import { commitGraphOf, type PathKey } from './commit-graph.js'

export interface Step {
  readonly id: string
  /** Seconds since 1970. */
  readonly date: number
  readonly treeId: string
  readonly parentIds: readonly string[]
}

export interface StepReader {
  /** Returns a commit; null when it is missing. */
  readonly read: (id: string) => Promise<Step | null>
  /**
   * Follows first parents past commits that certainly did not change a path. Returns the commit where it stops, which is
   * the given one when there is no commit-graph.
   */
  readonly pass: (step: Step, keys: readonly PathKey[]) => Promise<Step>
  readonly hasGraph: boolean
  /** The number of commits that were read one by one. Each of them takes as long as twenty commits of the graph. */
  readonly single: () => number
}

/** The maximum number of commits to pass at a time, which takes less than a millisecond. */
const FARTHEST = 8192

/** Returns a reader of the commits of a repository. It keeps nothing. */
export async function stepReader(repository: string): Promise<StepReader> {
  const graph = await commitGraphOf(repository)
  let single = 0
  const read = async (id: string): Promise<Step | null> => {
    const at = graph?.find(id)
    if (graph && at !== undefined) {
      const parentIds = graph.parentsOf(at).map(parent => graph.idOf(parent))
      return { id, date: graph.dateOf(at), treeId: graph.treeOf(at), parentIds }
    }
    single += 1
    const commit = await readCommit(repository, id)
    if (!commit) return null
    const { treeId, parentIds, committedDate } = commit
    return { id, date: committedDate.getTime() / 1000, treeId, parentIds }
  }
  const pass = async (step: Step, keys: readonly PathKey[]): Promise<Step> => {
    const at = graph?.find(step.id)
    if (!graph || at === undefined) return step
    const passed = graph.passUnchanged(at, keys, FARTHEST)
    return passed.passed === 0 ? step : ((await read(graph.idOf(passed.at))) ?? step)
  }
  return { read, pass, hasGraph: graph !== null, single: () => single }
}

/** The commits that a walk has met, newest first. Each comes once, with everything that was added for it. */
export class StepQueue<T> {
  readonly #open: { readonly step: Step; value: T }[] = []
  readonly #places = new Map<string, { value: T }>()

  get size(): number {
    return this.#open.length
  }

  /** Adds a commit. `join` adds to the value of a commit that is in the queue. */
  add(step: Step, value: T, join: (known: T) => T): void {
    const known = this.#places.get(step.id)
    if (known) {
      known.value = join(known.value)
      return
    }
    const entry = { step, value }
    this.#places.set(step.id, entry)
    let [low, high] = [0, this.#open.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      // The newest is last, where it is taken.
      if ((this.#open[middle]?.step.date ?? 0) < step.date) low = middle + 1
      else high = middle
    }
    this.#open.splice(low, 0, entry)
  }

  take(): { readonly step: Step; readonly value: T } | undefined {
    const next = this.#open.pop()
    if (next) this.#places.delete(next.step.id)
    return next
  }

  some(test: (value: T) => boolean): boolean {
    return this.#open.some(({ value }) => test(value))
  }
}
