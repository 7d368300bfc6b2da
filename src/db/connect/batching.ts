// Work that costs the database less when it is done for several callers at once: one statement with many rows, and one commit
// that waits for the disk, instead of one for each. Nobody waits for company: a caller that comes alone is served at once, and
// those that come while others are served are next, together. 50 writers of one project so need a few transactions, not 50.
import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Unavailable } from '../../errors.js'
import { translate } from './failure.js'
import { currentTransaction } from './scope.js'

/**
 * Callers that are served at once, at most. Their numbers are powers of two, because the database prepares a statement for each
 * number of rows. Locks of one are held until all are written: 32 rows take some 5 ms.
 */
export const MOST_TOGETHER = 32

/** Does the work for some callers, and returns what each of them gets, in their order. */
type Work<Key, Item, Made> = (items: readonly Item[], key: Key) => Promise<readonly Made[]>

interface Waiting<Item, Made> {
  readonly item: Item
  readonly use: (made: Made) => void
  readonly fail: (error: unknown) => void
}

/** What serves many does not run for the request of one of them. */
const outside = AsyncLocalStorage.snapshot()

/**
 * Returns a function that does some work for its callers, together for those with the same key. When it fails for several, it is
 * done again for each alone, so that nobody fails because of another; so it must leave nothing behind when it fails. Its callers
 * are in no transaction, whose end the others would not wait for.
 */
export function together<Key, Item, Made>(work: Work<Key, Item, Made>): (key: Key, item: Item) => Promise<Made> {
  /** By their keys, which are there while somebody is served. */
  const queues = new Map<Key, Waiting<Item, Made>[]>()
  const serveAll = async (key: Key, queue: Waiting<Item, Made>[]) => {
    while (queue.length > 0) {
      // Whoever comes in this turn of the loop comes along.
      await nextTurn()
      await serve(work, key, queue.splice(0, Math.min(2 ** Math.floor(Math.log2(queue.length)), MOST_TOGETHER)))
    }
    queues.delete(key)
  }
  return (key, item) => {
    if (currentTransaction()) throw new Error('what is done together has a transaction of its own')
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

/** Never rejects: each caller gets its own answer. */
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
    // A database that is away or busy would be so for each again.
    if (served.length === 1 || translate(error) instanceof Unavailable) for (const { fail } of served) fail(error)
    else await Promise.all(served.map(one => serve(work, key, [one])))
  }
}

/**
 * Returns a function that reads one thing for all who ask for it at the same time, with an answer younger than each question. Questions
 * with the same key have the same answer.
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

/** Returns a function that finds a row by its id, for all who look for some at the same time with one statement. */
export function findTogether<Row extends { readonly id: number }>(
  find: (ids: readonly number[]) => Promise<readonly Row[]>
): (id: number) => Promise<Row | undefined> {
  const found = together<string, number, Row | undefined>(async ids => {
    const rows = new Map((await find([...new Set(ids)])).map(row => [row.id, row]))
    return ids.map(id => rows.get(id))
  })
  return id => found('', id)
}
