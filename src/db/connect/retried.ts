import { setTimeout as sleep } from 'node:timers/promises'
import { isLockTimeout, isRetriable, translate } from './failure.js'
import { statementPatience } from './statement-limit.js'

/** The pauses between them take about two seconds, which is less than a statement of a request may take. */
const TRIES = 10
const LONGEST_PAUSE_MS = 500
/** A try that ends with a lock timeout has waited for seconds, and is the last one after this time. */
const LONGEST_WAIT_MS = 30_000

/**
 * Runs a transaction, or one statement outside of transactions, and runs it again after a deadlock, a lock timeout or a refusal by a
 * cluster: the database has undone it then. Throws the errors of the product (`translate`). Do not use it for a statement inside
 * `transact`, where such an error ends the whole transaction. `began` is when the first try began.
 */
export async function retried<T>(work: () => Promise<T>, began = performance.now()): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const waited = performance.now() - began
      const isLate = isLockTimeout(error) && waited > Math.min(statementPatience(), LONGEST_WAIT_MS)
      if (!isRetriable(error) || isLate || attempt === TRIES) throw translate(error)
      await sleep(Math.min(2 ** attempt * 5, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2))
    }
  }
}
