// The connection pool of this process for prepared statements, by mysql2. Models have a separate pool: sequelize.ts.
import type { Connection, ConnectionOptions, Pool, PoolOptions } from 'mysql2'
import { config } from '../../config.js'
import { secrets } from '../../secrets.js'
import { databaseSocket } from '../embedded/embedded.js'
import { EMBEDDED_NAME } from '../embedded/folder.js'
import { EXACT_COLLATION } from './collations.js'
import { mysql } from './driver.js'
import { sessionLimits } from './statement-limit.js'

// By default a server keeps 16,382 prepared statements in total, and lists of values (`in (?, ?)`) create many of them.
export const STATEMENTS = 100
// Less than the time limit of a statement, because a request may have to connect first.
export const CONNECT_MS = 3000

let current: Pool | undefined

// Every session gets the same SQL dialect: an external database gets the settings that the embedded one starts with. MySQL cuts
// the result of group_concat at 1,024 bytes, MariaDB at 1 MiB. JSON that group_concat builds must not be cut.
//
// In a Galera cluster, each statement outside of transactions and the first one of each transaction waits until its node has what other
// nodes have acknowledged (7: reads, changes and insertions). The connections of one process may lead to different nodes for a while,
// because haproxy chooses for each of them. Without this, a job that one node has given out found its row missing on another. A node
// that needs not wait takes 0.02 ms longer. Other servers ignore the setting, and MySQL the comment.
const SESSION = [
  `set names utf8mb4 collate ${EXACT_COLLATION}`,
  'set session transaction isolation level read committed',
  // For each value of `in (...)`, the database looks into the index to estimate the rows: 3 to 5 us each, a sixth to a third of the
  // time of a statement with the ids of a page. For lists that are longer than 8, it uses the statistics of the index instead.
  "set session eq_range_index_dive_limit = 9, time_zone = '+00:00', group_concat_max_len = 1048576, sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,ONLY_FULL_GROUP_BY' /*M!, wsrep_sync_wait = 7 */"
]

/** Returns `database.url` in the form of the driver. */
export function address(): PoolOptions {
  const { url } = config().database
  if (url !== null) return parsed(url)
  return {
    socketPath: databaseSocket(),
    user: 'root',
    password: secrets().database_password,
    database: EMBEDDED_NAME
  }
}

/** `?socket=PATH` connects to the unix socket of a server. */
function parsed(url: string): PoolOptions {
  const parsed = new URL(url)
  const socket = parsed.searchParams.get('socket')
  return {
    ...(socket ? { socketPath: socket } : { host: parsed.hostname, port: Number(parsed.port || 3306) }),
    user: decodeURIComponent(parsed.username),
    password: decodeURIComponent(parsed.password),
    database: parsed.pathname.slice(1)
  }
}

/** Opens the pool, which connects at the first statement. A second call returns the same pool. */
export function pool(): Pool {
  if (current) return current
  current = openPool(null)
  for (const companion of companions) companion.open()
  return current
}

/** Something that opens and closes with the pool. */
interface Companion {
  open(): void
  close(): Promise<void>
}
const companions: Companion[] = []

/** Opens something whenever the pool opens, immediately if it is already open, and closes it with the pool. */
export function withPool(companion: Companion): void {
  companions.push(companion)
  if (current) companion.open()
}

/**
 * Calls `forget` when the pool closes. Use it for everything that this process remembers about rows: the next pool may
 * connect to another database, whose ids belong to other rows.
 */
export const forgetWithPool = (forget: () => void): void =>
  withPool({ open: () => undefined, close: async () => forget() })

/** Opens another pool of connections to the database, or to a URL, with more statements at the beginning of each session. */
export function openPool(url: string | null, more: readonly string[] = []): Pool {
  const made = mysql.createPool({
    ...(url === null ? address() : parsed(url)),
    connectionLimit: config().database.pool,
    // All connections may be idle for this long. Above its option maxIdle, the pool would close connections every
    // second, and open them again under load, each with statements to prepare.
    idleTimeout: 60_000,
    connectTimeout: CONNECT_MS,
    timezone: 'Z',
    dateStrings: false,
    enableKeepAlive: true,
    maxPreparedStatements: STATEMENTS
  })
  // The pool sends these before it hands out a new connection, and a connection answers in order.
  made.on('connection', connection => {
    for (const statement of [...SESSION, sessionLimits(), ...more]) connection.query(statement, () => undefined)
  })
  return made
}

/** Applies the session settings to a connection outside of the pool. */
export async function prepareSession(connection: Connection): Promise<void> {
  for (const statement of SESSION) await connection.promise().query(statement)
}

/**
 * Opens a connection outside of the pools, for code that holds one for a long time, or whose statements take longer the
 * larger the tables are. The caller must destroy it.
 */
export async function openConnection(options: ConnectionOptions = {}): Promise<Connection> {
  const connection = mysql.createConnection({ ...address(), connectTimeout: 5000, timezone: 'Z', ...options })
  // An error of the connection appears as the result of its next statement.
  connection.on('error', () => undefined)
  await prepareSession(connection)
  return connection
}

/** Closes the pool and everything that opened with it, after the running statements have finished. */
export async function closeDatabase(): Promise<void> {
  const open = current
  current = undefined
  for (const companion of companions) await companion.close()
  await open?.promise().end()
}
