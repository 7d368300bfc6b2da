// Translates errors of the database into the errors of the product.
import { DiskFull, Misconfigured, Unavailable } from '../../errors.js'
import { isDiskFull } from '../../lib/disk-full.js'
import { answeredSince, noteLost } from './connectivity.js'
import { wasLate } from './lateness.js'
import { statementPatience } from './statement-limit.js'

const AWAY = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_ENQUEUE_AFTER_FATAL_ERROR',
  'ER_SERVER_SHUTDOWN',
  'ER_CON_COUNT_ERROR',
  'ER_NORMAL_SHUTDOWN',
  'ER_CONNECTION_KILLED',
  'ER_QUERY_INTERRUPTED',
  'STATEMENT_TIMEOUT',
  // A full backlog of the server's socket, and networks that come and go.
  'EAGAIN',
  'EAI_AGAIN',
  'ECONNABORTED',
  'EHOSTDOWN',
  'ENETDOWN',
  'ENETUNREACH',
  'ENETRESET',
  'ENOTCONN',
  'ESHUTDOWN',
  'EMFILE',
  'ENFILE',
  'ENOBUFS'
])
/**
 * Time limits of MariaDB and MySQL, limits on connections, and a read-only server, such as the former primary server of a cluster. 1180
 * is a commit whose node has lost its cluster: the others may have stored it, so nobody may run it again.
 */
const AWAY_NUMBERS = new Set([1969, 3024, 1040, 1041, 1135, 1180, 1203, 1226, 1290, 1836, 1927])

/** Milliseconds. A database that has answered another statement within this time is not away. */
const LATELY_MS = 500

interface DriverError {
  readonly code?: string
  readonly errno?: number
  readonly syscall?: string
  readonly message?: string
  readonly name?: string
  readonly parent?: DriverError
  readonly original?: DriverError
}

/** Returns the driver's own error, which Sequelize wraps. */
const driverError = (error: unknown): DriverError => {
  const outer = (error ?? {}) as DriverError
  return outer.parent ?? outer.original ?? outer
}

/** Returns true when the database cannot be reached, or when the connection broke during a statement. */
export function isDatabaseAway(error: unknown): boolean {
  const { code, errno, message, syscall } = driverError(error)
  if (code !== undefined && AWAY.has(code)) return true
  if (errno !== undefined && AWAY_NUMBERS.has(errno)) return true
  // The server's socket does not exist. The same code about a file would be a fault of the program.
  if (code === 'ENOENT' && syscall === 'connect') return true
  if ((error as DriverError)?.name?.startsWith('SequelizeConnection')) return true
  return /closed state|Connection lost|Pool is closed|connection is in closed/i.test(message ?? '')
}

/**
 * Returns true for a deadlock, a conflict with another node of a cluster (also 1305: the savepoint from the beginning of the transaction
 * is gone), a node that is not ready (1047), or a lock timeout: nothing is stored, and the transaction may run again.
 */
export function isRetriable(error: unknown): boolean {
  const { errno } = driverError(error)
  return errno === 1213 || errno === 1305 || errno === 1047 || isLockTimeout(error)
}

/** Returns whether the wait for a lock of another transaction took too long. */
export const isLockTimeout = (error: unknown): boolean => driverError(error).errno === 1205

/** Returns whether a time limit ended: of a statement, or of the wait for a connection. The database may still answer others. */
function isSlow(error: unknown): boolean {
  const { errno } = driverError(error)
  return isWaitTimeout(error) || driverError(error).code === 'STATEMENT_TIMEOUT' || errno === 1969 || errno === 3024
}

/** Returns whether the wait for a connection took too long. */
function isWaitTimeout(error: unknown): boolean {
  const isWait = (error as DriverError)?.name === 'SequelizeConnectionAcquireTimeoutError'
  return isWait || driverError(error).code === 'ETIMEDOUT'
}

/** Returns whether a column or key that `alter table` adds already exists, or one that it drops does not exist. */
export function isAlreadyMade(error: unknown): boolean {
  const { errno } = driverError(error)
  return errno === 1060 || errno === 1061 || errno === 1091
}

/** Returns whether a row cannot be stored: a value is missing, does not fit its column, or violates a unique key. */
export function isWrongValue(error: unknown): boolean {
  const { errno } = driverError(error)
  return (
    errno === 1048 ||
    errno === 1062 ||
    errno === 1264 ||
    errno === 1364 ||
    errno === 1292 ||
    errno === 1366 ||
    errno === 1406
  )
}

/** Returns the unique key that a write violated, or undefined. */
export function duplicateKey(error: unknown): string | undefined {
  const { errno, message } = driverError(error)
  if (errno !== 1062) return undefined
  return /for key '(?:[^'.]*\.)?([^']+)'/.exec(message ?? '')?.[1] ?? 'unknown'
}

const madeHere = new WeakSet<object>()

function unavailable(text: string): Unavailable {
  const error = new Unavailable(text)
  madeHere.add(error)
  return error
}

/**
 * Returns whether this error of `translate` says that the database did not answer, or not in time. Nobody knows whether it has done what was
 * asked.
 */
export const isDatabaseUnavailable = (error: unknown): boolean => error instanceof Unavailable && madeHere.has(error)

/**
 * Returns the error to throw instead: Unavailable when the database cannot be reached, is too slow, or other
 * transactions hold its locks; Misconfigured when it refuses the account or the database name; DiskFull when its disk
 * is full; otherwise the same error.
 */
export function translate(error: unknown): unknown {
  if (driverError(error).errno === 1045) {
    return new Misconfigured('the database refuses the account: check secrets.json, or the password in database.url')
  }
  if (driverError(error).errno === 1049) {
    return new Misconfigured('the database of database.url does not exist: create it')
  }
  if (isDiskFull(error)) return new DiskFull()
  if (isRetriable(error)) return unavailable('the database is busy')
  if (!isDatabaseAway(error)) return error
  const now = performance.now()
  if (isSlow(error) && answeredSince(now - LATELY_MS)) {
    return unavailable('the database took too long for this request')
  }
  // Statements get their time again when this process was busy, so it is not at fault when they time out.
  if (isWaitTimeout(error) && wasLate(now - 2 * statementPatience())) {
    return unavailable('the server is too busy')
  }
  noteLost(driverError(error).code ?? driverError(error).message ?? 'unknown')
  return unavailable('the database is not available')
}
