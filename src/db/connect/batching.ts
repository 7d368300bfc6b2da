// Work that costs the database less when it is done for several callers at once: one statement with many rows, and one
// commit that waits for the disk, instead of one for each caller. Nobody waits for company: a caller that arrives first
// is served at once, and callers that arrive in the meantime are served next, together. Thus 50 writers of one project
// need a few transactions, not 50.
import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Unavailable } from '../../errors.js'
import { noteRead } from '../../lib/request-scope.js'
import { translate } from './failure.js'
import { currentTransaction } from './scope.js'

/**
 * The maximum number of callers that are served at once. Groups have a power of two callers, because the database prepares a
 * statement for each number of rows. The locks of the first row are held until all rows are written: 32 rows take about 5 ms.
 */
export const MOST_TOGETHER = 32

/** Does the work for some callers, and returns the result of each caller, in order. */
type Work<Key, Item, Made> = (items: readonly Item[], key: Key) => Promise<readonly Made[]>

interface Waiting<Item, Made> {
  readonly item: Item
  readonly use: (made: Made) => void
  readonly fail: (error: unknown) => void
}

/** Work for many callers must not run in the request of one of them. */
const outside = AsyncLocalStorage.snapshot()

/**
 * Returns a function that does some work for its callers, together for callers with the same key. When it fails for several
 * callers, it runs again for each one separately, so that no caller fails because of another; therefore the work must leave
 * nothing behind when it fails. Callers must not be in a transaction, because the others would not wait for its end.
 */
export function together<Key, Item, Made>(work: Work<Key, Item, Made>): (key: Key, item: Item) => Promise<Made> {
  /** The waiting callers by key. A key exists while its callers are being served. */
  const queues = new Map<Key, Waiting<Item, Made>[]>()
  const serveAll = async (key: Key, queue: Waiting<Item, Made>[]) => {
    while (queue.length > 0) {
      // Callers that arrive in this turn of the event loop are included.
      await nextTurn()
      await serve(work, key, queue.splice(0, Math.min(2 ** Math.floor(Math.log2(queue.length)), MOST_TOGETHER)))
    }
    queues.delete(key)
  }
  return (key, item) => {
    if (currentTransaction()) throw new Error('work for several callers must not run inside a transaction')
    // Its statements run outside of the request, which cannot note them.
    noteRead('')
    return new Promise((use, fail) => {
      const queue = queues.get(key)
      if (queue) {
        queue.push({ item, use, fail })
        return
      }
      const made = [{ item, use, fail }]
      queues.set(key, made)
      void outside(serveAll, key, made)
    })
  }
}

/** Never rejects: each caller gets its own result. */
async function serve<Key, Item, Made>(
  work: Work<Key, Item, Made>,
  key: Key,
  served: readonly Waiting<Item, Made>[]
): Promise<void> {
  try {
    const made = await work(
      served.map(({ item }) => item),
      key
    )
    served.forEach(({ use }, at) => {
      use(made[at] as Made)
    })
  } catch (error) {
    // If the database is away or busy, each separate try would fail as well.
    if (served.length === 1 || translate(error) instanceof Unavailable) for (const { fail } of served) fail(error)
    else await Promise.all(served.map(one => serve(work, key, [one])))
  }
}

/**
 * Returns a function that reads something once for all concurrent callers. Its answer is never older than the call.
 * Questions with the same key have the same answer.
 */
export function askTogether<Question, Answer>(
  ask: (question: Question) => Promise<Answer>,
  keyOf: (question: Question) => unknown = question => question
): (question: Question) => Promise<Answer> {
  const asked = together<unknown, Question, Answer>(async all => {
    const answer = await ask(all[0] as Question)
    return all.map(() => answer)
  })
  return question => asked(keyOf(question), question)
}

/** Returns a function that finds a row by its id, with one statement for all concurrent callers. */
export function findTogether<Row extends { readonly id: number }>(
  find: (ids: readonly number[]) => Promise<readonly Row[]>
): (id: number) => Promise<Row | undefined> {
  const found = together<string, number, Row | undefined>(async ids => {
    const rows = new Map((await find([...new Set(ids)])).map(row => [row.id, row]))
    return ids.map(id => rows.get(id))
  })
  return id => found('', id)
}
