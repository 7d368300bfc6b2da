// The two connection pools of this process, on one database: Sequelize's for models, mysql2's own for prepared
// statements.
import mysql, { type Connection, type ConnectionOptions, type Pool, type PoolOptions } from 'mysql2'
import { Sequelize } from 'sequelize'
import { config } from '../config.js'
import { secrets } from '../secrets.js'
import { EXACT_COLLATION } from './collations.js'
import { databaseSocket } from './embedded.js'
import { EMBEDDED_NAME } from './embedded-folder.js'
import { defineModels } from './models/index.js'
import { transactionNamespace } from './scope.js'
import { limitConnection, sessionLimits, statementLimit } from './statement-limit.js'

interface Database {
  readonly sequelize: Sequelize
  readonly pool: Pool
}

// By default a server keeps 16,382 prepared statements in total, and lists of values (`in (?, ?)`) create many of them.
const STATEMENTS = 100
// Less than the limit of a statement, because a request may have to connect first.
const CONNECT_MS = 3000

let current: Database | undefined

// Every session gets the same SQL dialect: an outside database gets the settings that the embedded one starts with.
// MySQL cuts the result of group_concat at 1,024 bytes, MariaDB at 1 MiB. JSON that group_concat builds must not be
// cut.
const SESSION = [
  `set names utf8mb4 collate ${EXACT_COLLATION}`,
  'set session transaction isolation level read committed',
  "set session time_zone = '+00:00', group_concat_max_len = 1048576, sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,ONLY_FULL_GROUP_BY'"
]

/** Returns `database.url` in the form of the driver. `?socket=PATH` reaches a server by its unix socket. */
function address(): PoolOptions {
  const { url } = config().database
  if (url === null) {
    return {
      socketPath: databaseSocket(),
      user: 'root',
      password: secrets().database_password,
      database: EMBEDDED_NAME
    }
  }
  const parsed = new URL(url)
  const socket = parsed.searchParams.get('socket')
  return {
    ...(socket ? { socketPath: socket } : { host: parsed.hostname, port: Number(parsed.port || 3306) }),
    user: decodeURIComponent(parsed.username),
    password: decodeURIComponent(parsed.password),
    database: parsed.pathname.slice(1)
  }
}

/** Opens the pools, which connect at the first statement. A second call returns the same pools. */
export function database(): Database {
  current ??= open()
  return current
}

function open(): Database {
  const { socketPath, host, port, user, password, database: name } = address()
  Sequelize.useCLS(transactionNamespace)
  const sequelize = new Sequelize(name ?? '', user ?? '', password ?? '', {
    dialect: 'mysql',
    host: host ?? 'localhost',
    port: port ?? 3306,
    dialectOptions: {
      ...(socketPath ? { socketPath } : {}),
      connectTimeout: CONNECT_MS,
      maxPreparedStatements: STATEMENTS
    },
    timezone: '+00:00',
    logging: false,
    pool: {
      max: config().database.pool,
      min: 0,
      idle: 60_000,
      acquire: Math.min(statementLimit() * 1000, 10_000),
      evict: 30_000
    },
    define: { underscored: true, freezeTableName: true },
    retry: { max: 1 }
  })
  sequelize.addHook('afterConnect', async found => {
    const connection = found as Connection
    limitConnection(connection)
    await prepareSession(connection)
    for (const statement of sessionLimits()) await connection.promise().query(statement).catch(ignoreUnknown)
  })
  defineModels(sequelize)
  const pool = mysql.createPool({
    ...address(),
    connectionLimit: config().database.pool,
    maxIdle: 2,
    idleTimeout: 60_000,
    connectTimeout: CONNECT_MS,
    timezone: 'Z',
    dateStrings: false,
    enableKeepAlive: true,
    maxPreparedStatements: STATEMENTS
  })
  // The pool sends these before it gives a new connection to anybody, and a connection answers in order.
  pool.on('connection', connection => {
    for (const statement of [...SESSION, ...sessionLimits()]) connection.query(statement, () => undefined)
  })
  return { sequelize, pool }
}

function ignoreUnknown(error: { errno?: number }): void {
  const UNKNOWN_VARIABLE = 1193
  if (error.errno !== UNKNOWN_VARIABLE) throw error
}

async function prepareSession(connection: Connection): Promise<void> {
  for (const statement of SESSION) await connection.promise().query(statement)
}

/**
 * Opens a connection outside of the pools, for code that holds one for a long time, or whose statements take as long as
 * the tables are large. The caller must destroy it.
 */
export async function openConnection(options: ConnectionOptions = {}): Promise<Connection> {
  const connection = mysql.createConnection({ ...address(), connectTimeout: 5000, timezone: 'Z', ...options })
  // An error of the connection shows up in the answer to its next statement.
  connection.on('error', () => undefined)
  await prepareSession(connection)
  return connection
}

/** Closes both pools, after the running statements have finished. */
export async function closeDatabase(): Promise<void> {
  const open = current
  current = undefined
  if (!open) return
  await open.sequelize.close()
  await open.pool.promise().end()
}
