// What the database says, in the product's words.
import { Misconfigured, Unavailable } from '../errors.js'

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
  'ER_QUERY_INTERRUPTED'
])

interface DriverError {
  code?: string
  errno?: number
  syscall?: string
  message?: string
  name?: string
  parent?: DriverError
  original?: DriverError
}

/** The driver's own error inside what Sequelize made of it. */
const driverError = (error: unknown): DriverError => {
  const outer = (error ?? {}) as DriverError
  return outer.parent ?? outer.original ?? outer
}

/** The database is not there, or went away in the middle of a statement. */
export function isDatabaseAway(error: unknown): boolean {
  const { code, message, syscall } = driverError(error)
  if (code !== undefined && AWAY.has(code)) return true
  // The server's socket is not there; of a file, this would be a fault of the program.
  if (code === 'ENOENT' && syscall === 'connect') return true
  if ((error as DriverError)?.name?.startsWith('SequelizeConnection')) return true
  return /closed state|Connection lost|Pool is closed|connection is in closed/i.test(message ?? '')
}

/** A deadlock, a lock timeout or a cluster's refusal: the transaction can run again. */
export function isRetriable(error: unknown): boolean {
  const { errno } = driverError(error)
  return errno === 1213 || errno === 1205 || errno === 1047 || errno === 1180
}

/** A column or key that `alter table` adds is there, or one that it drops is not. */
export function isAlreadyMade(error: unknown): boolean {
  const { errno } = driverError(error)
  return errno === 1060 || errno === 1061 || errno === 1091
}

/** The unique key that a write ran into, or undefined. */
export function duplicateKey(error: unknown): string | undefined {
  const { errno, message } = driverError(error)
  if (errno !== 1062) return undefined
  return /for key '(?:[^'.]*\.)?([^']+)'/.exec(message ?? '')?.[1] ?? 'unknown'
}

/** The error to throw instead: Unavailable where the database is away, Misconfigured where it refuses, else the same. */
export function translate(error: unknown): unknown {
  if (driverError(error).errno === 1045) {
    return new Misconfigured('the database refuses the account: check secrets.json, or the password in database.url')
  }
  if (driverError(error).errno === 1049) {
    return new Misconfigured('the database of database.url does not exist: create it')
  }
  return isDatabaseAway(error) ? new Unavailable('the database is not available') : error
}
