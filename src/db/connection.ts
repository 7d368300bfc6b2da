// The process's two pools on one database: Sequelize's for models, mysql2's own for prepared statements.
import mysql, { type Connection, type ConnectionOptions, type Pool, type PoolOptions } from 'mysql2'
import { Sequelize } from 'sequelize'
import { config } from '../config.js'
import { secrets } from '../secrets.js'
import { databaseSocket } from './embedded.js'
import { EMBEDDED_NAME } from './embedded-folder.js'
import { defineModels } from './models/index.js'
import { transactionNamespace } from './scope.js'

interface Database {
  readonly sequelize: Sequelize
  readonly pool: Pool
}

// A server keeps 16,382 statements in all by default, and lists of values (`in (?, ?)`) make many of them.
const STATEMENTS = 100

let current: Database | undefined

// Plain SQL in the same dialect everywhere: what the embedded database is started with, an outside one is told. MySQL cuts
// what group_concat gives at 1,024 bytes, MariaDB at 1 MiB: JSON that is put together so must not be cut.
const SESSION = [
  'set session transaction isolation level read committed',
  "set session time_zone = '+00:00', group_concat_max_len = 1048576, sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,ONLY_FULL_GROUP_BY'"
]

/** `database.url` as the driver wants it; `?socket=PATH` reaches a server by its unix socket. */
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

/** Opens the pools; no connection is made before the first statement. Calling it again gives the same ones. */
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
    dialectOptions: { ...(socketPath ? { socketPath } : {}), connectTimeout: 5000, maxPreparedStatements: STATEMENTS },
    timezone: '+00:00',
    logging: false,
    pool: { max: config().database.pool, min: 0, idle: 60_000, acquire: 10_000, evict: 30_000 },
    define: { underscored: true, freezeTableName: true },
    retry: { max: 1 }
  })
  sequelize.addHook('afterConnect', connection => prepareSession(connection as Connection))
  defineModels(sequelize)
  const pool = mysql.createPool({
    ...address(),
    connectionLimit: config().database.pool,
    maxIdle: 2,
    idleTimeout: 60_000,
    connectTimeout: 5000,
    timezone: 'Z',
    dateStrings: false,
    enableKeepAlive: true,
    maxPreparedStatements: STATEMENTS
  })
  // The pool sends these before it hands a new connection out, as one connection answers in order.
  pool.on('connection', connection => {
    for (const statement of SESSION) connection.query(statement, () => undefined)
  })
  return { sequelize, pool }
}

async function prepareSession(connection: Connection): Promise<void> {
  for (const statement of SESSION) await connection.promise().query(statement)
}

/** A connection outside of the pools, for what holds one for long; the caller destroys it. */
export async function openConnection(options: ConnectionOptions = {}): Promise<Connection> {
  const connection = mysql.createConnection({ ...address(), connectTimeout: 5000, timezone: 'Z', ...options })
  // Whatever happens to it is the answer to its next statement.
  connection.on('error', () => undefined)
  await prepareSession(connection)
  return connection
}

/** Ends both pools; statements under way are finished first. */
export async function closeDatabase(): Promise<void> {
  const open = current
  current = undefined
  if (!open) return
  await open.sequelize.close()
  await open.pool.promise().end()
}
