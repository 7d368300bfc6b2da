// Limits the time of every statement: a database that hangs keeps its connections open and sends nothing.
import type { Connection } from 'mysql2'
import { config } from '../../config.js'
import { wasLate, watchLateness } from './lateness.js'

/** A statement that got no answer in time. It is unknown whether a write took place. */
export class StatementTimeout extends Error {
  readonly code = 'STATEMENT_TIMEOUT'

  constructor() {
    super('the database did not answer in time')
  }
}

/** The server ends a statement at the limit. A server that hangs does not, so we wait this much longer. */
const GRACE_MS = 300

/**
 * Seconds without a statement in an open transaction. After that, its machine has probably vanished from the network, and the locks of
 * the transaction would block others until the connection ends, which takes hours. Between two statements there is only computing.
 */
const IDLE_S = 5

let shortened: number | undefined

/** Sets the limit of this process, in seconds: requests get `database.timeout`, everything else `database.long_timeout`. */
export function limitStatements(seconds: number): void {
  shortened = seconds
}

/** Returns the time limit for a statement of this process, in seconds. */
export const statementLimit = (): number => shortened ?? config().database.long_timeout

/** Returns the milliseconds after which we no longer wait for a statement. */
export const statementPatience = (): number => statementLimit() * 1000 + GRACE_MS

/**
 * Calls `late` when the limit has passed. Returns a function that stops the clock. If this process was too busy to read the answer
 * in time, the statement gets the same time again.
 */
export function statementClock(late: () => void): () => void {
  const leave = watchLateness()
  const began = performance.now()
  let isOver = false
  let isAgain = false
  let last: NodeJS.Immediate | undefined
  const end = () => {
    clearTimeout(clock)
    clearImmediate(last)
    if (!isOver) leave()
    isOver = true
  }
  const fail = () => {
    end()
    late()
  }
  const clock = setTimeout(() => {
    if (!wasLate(began)) return fail()
    if (isAgain) {
      // Node.js reads the answers that have arrived before it calls this.
      last = setImmediate(fail)
      return
    }
    isAgain = true
    clock.refresh()
  }, statementPatience())
  // The connection keeps the process running, not the clock: a closed pool drops the statements that wait for a connection.
  clock.unref()
  return end
}

type Send = (...values: unknown[]) => unknown
type Callback = (...answer: unknown[]) => void

/** Makes a connection end itself when a statement with a callback gets no answer within the limit. */
export function limitConnection(connection: Connection): void {
  const methods = connection as unknown as Record<'query' | 'execute', Send>
  for (const name of ['query', 'execute'] as const) {
    const send = methods[name].bind(connection)
    methods[name] = (...values) => {
      const callback = values.at(-1)
      if (typeof callback !== 'function') return send(...values)
      return send(...values.slice(0, -1), limited(connection, callback as Callback))
    }
  }
}

function limited(connection: Connection, callback: Callback): Callback {
  let late = false
  const stop = statementClock(() => {
    late = true
    connection.destroy()
    callback(new StatementTimeout())
  })
  return (...answer) => {
    stop()
    if (!late) callback(...answer)
  }
}

/**
 * Returns the settings of a session, so that a server that does not hang ends the statement and its locks itself. The first comment is
 * for MariaDB, the second one for MySQL. A setting that the server does not know would be an error, and the first error costs a
 * process 9 ms: the driver then loads the names of all errors.
 */
export function sessionLimits(): string {
  const seconds = statementLimit()
  const lockWait = Math.max(1, Math.min(10, Math.floor(seconds) - 1))
  return `set session innodb_lock_wait_timeout = ${lockWait}
    /*M! , session idle_transaction_timeout = ${IDLE_S}, session max_statement_time = ${seconds} */
    /*!50708 , session max_execution_time = ${Math.trunc(seconds * 1000)} */`
}
