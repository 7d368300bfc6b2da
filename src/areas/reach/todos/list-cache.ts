// Lists of to-dos, kept as their ids. Whether a to-do may be read depends on its project, its target and the memberships of the
// user, so a total costs a look at each. A kept list holds
// - as long as the user has the same to-dos: its pages compare that, by any process's changes (`whole`);
// - as long as nothing has changed that the audit knows (db/lists/count-cache.ts): memberships, projects, groups and users;
// - until the next day, when memberships may end, and for 5 seconds at most: of a confidential issue another process may tell
//   nothing to this one.
// A page looks anew whether each of its to-dos may be read, and the list is read again when one may not.
import { LRUCache } from 'lru-cache'
import { forgetWithPool } from '../../../db/connect/connection.js'
import { afterCommit } from '../../../db/connect/transact.js'
import { lastChange } from '../../../db/lists/count-cache.js'

export interface KeptList {
  /** Newest first. */
  readonly ids: Uint32Array
  /** What names the set of all to-dos of the user in the state of the list, just before. */
  readonly whole: string
  readonly change: string
  readonly day: number
}

/** The to-dos of a list that is kept: 20 KB. */
export const MOST_KEPT = 5000
const KEEP_MS = 5000
const DAY_MS = 86_400_000

/** At most 4 MB. */
const kept = new LRUCache<string, KeptList>({
  maxSize: 1_000_000,
  sizeCalculation: ({ ids }) => ids.length + 100,
  ttl: KEEP_MS
})
/** Lists that are too long to be kept. */
const long = new LRUCache<string, true>({ max: 500, ttl: 60_000 })

forgetWithPool(() => {
  kept.clear()
  long.clear()
})

/** Grows with each `forgetLists`, so that a list that is being read then is not kept. */
let forgotten = 0

const today = () => Math.floor(Date.now() / DAY_MS)

/** Returns a kept list that still holds, as far as this can be told without its to-dos. */
export async function keptList(key: string): Promise<KeptList | undefined> {
  const known = kept.get(key)
  if (!known || known.day !== today()) return undefined
  return known.change === (await lastChange()) ? known : undefined
}

export const forgetList = (key: string): void => void kept.delete(key)

/** Forgets all lists when the current transaction has committed: somebody may read another issue now, or one less. */
export const forgetLists = (): void =>
  afterCommit(() => {
    forgotten++
    kept.clear()
  })

/** Reads a list and keeps it. Undefined when it is too long for that. */
export async function keepList(
  key: string,
  read: { readonly whole: () => Promise<string>; readonly ids: () => Promise<number[]> }
): Promise<KeptList | undefined> {
  if (long.has(key)) return undefined
  const day = today()
  const before = forgotten
  // Before the ids, so that a change between them only costs another reading.
  const [change, whole] = await Promise.all([lastChange(), read.whole()])
  const ids = await read.ids()
  if (ids.length > MOST_KEPT) {
    long.set(key, true)
    return undefined
  }
  const list = { ids: Uint32Array.from(ids), whole, change, day }
  if (before === forgotten) kept.set(key, list)
  return list
}
