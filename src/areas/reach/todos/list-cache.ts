// Caches lists of to-dos as their ids, with their projects. Whether a user may read a to-do depends on its project, its target and the memberships of
// the user, so counting them costs a check of each. A cached list is valid
// - while the user has the same to-dos: its pages compare that, for changes of any process (`whole`);
// - until a change that the audit log records (db/lists/count-cache.ts): to memberships, projects, groups or users;
// - until the next day, when memberships may end, and for at most 5 seconds: another process cannot report a change of a
//   confidential issue to this one.
// A page checks again whether each of its to-dos may be read. If one may not, the list is read again.
import { LRUCache } from 'lru-cache'
import { forgetWithPool } from '../../../db/connect/connection.js'
import { afterCommit } from '../../../db/connect/transact.js'
import { lastChange } from '../../../db/lists/count-cache.js'

export interface KeptList {
  /** Newest first. */
  readonly ids: Uint32Array
  /** The project of each. */
  readonly projects: Uint32Array
  /** Identifies the set of all to-dos of the user in the state of the list, from just before the list was read. */
  readonly whole: string
  readonly change: string
  readonly day: number
}

/** The limit of to-dos in a cached list: 40 KB. */
export const MOST_KEPT = 5000
const KEEP_MS = 5000
const DAY_MS = 86_400_000

/** At most 4 MB. */
const kept = new LRUCache<string, KeptList>({
  maxSize: 500_000,
  sizeCalculation: ({ ids }) => ids.length + 100,
  ttl: KEEP_MS
})
/** Lists that are too long to cache. */
const long = new LRUCache<string, true>({ max: 500, ttl: 60_000 })

forgetWithPool(() => {
  kept.clear()
  long.clear()
})

/** Grows with each `forgetLists`, so that a list that is being read at that time is not cached. */
let forgotten = 0

const today = () => Math.floor(Date.now() / DAY_MS)

/** Returns a cached list that is still valid, as far as can be checked without its to-dos. */
export async function keptList(key: string): Promise<KeptList | undefined> {
  const known = kept.get(key)
  if (!known || known.day !== today()) return undefined
  return known.change === (await lastChange()) ? known : undefined
}

export const forgetList = (key: string): void => void kept.delete(key)

/** Forgets all lists when the current transaction has committed, because users may be able to read more or fewer issues now. */
export const forgetLists = (): void =>
  afterCommit(() => {
    forgotten++
    kept.clear()
  })

/** Reads a list and caches it. Undefined when it is too long for that. */
export async function keepList(
  key: string,
  read: {
    readonly whole: () => Promise<string>
    readonly todos: () => Promise<readonly { readonly id: number; readonly project_id: number }[]>
  }
): Promise<KeptList | undefined> {
  if (long.has(key)) return undefined
  const day = today()
  const before = forgotten
  // Read before the ids, so that a change in between only costs another reading.
  const [change, whole] = await Promise.all([lastChange(), read.whole()])
  const todos = await read.todos()
  if (todos.length > MOST_KEPT) {
    long.set(key, true)
    return undefined
  }
  const ids = Uint32Array.from(todos, ({ id }) => id)
  const projects = Uint32Array.from(todos, ({ project_id: id }) => id)
  const list = { ids, projects, whole, change, day }
  if (before === forgotten) kept.set(key, list)
  return list
}
