// The pool of connections for models and transactions. It is separate from the pool for prepared statements because
// Sequelize takes 200 ms to load: a command that only reads does not need it.
import type { Connection } from 'mysql2'
import { Sequelize } from 'sequelize'
import { config } from '../../config.js'
import { address, CONNECT_MS, prepareSession, STATEMENTS, withPool } from './connection.js'
import { transactionNamespace } from './scope.js'
import { limitConnection, sessionLimits, statementLimit } from './statement-limit.js'

let current: Sequelize | undefined
let define: ((pool: Sequelize) => void) | undefined

/**
 * Binds the models, which are above this file in the order of imports, to the pool: to the open one immediately, and to
 * each later one when it opens.
 */
export function bindModels(defineModels: (pool: Sequelize) => void): void {
  define = defineModels
  if (current) define(current)
}

/** Opens the pool, which connects at the first statement. A second call returns the same pool. */
export function sequelize(): Sequelize {
  current ??= open()
  return current
}

// Models are bound before the first statement of the process, no matter which code sends it.
withPool({
  open: () => void sequelize(),
  close: async () => {
    const open = current
    current = undefined
    await open?.close()
  }
})

function open(): Sequelize {
  const { socketPath, host, port, user, password, database: name } = address()
  Sequelize.useCLS(transactionNamespace)
  const made = new Sequelize(name ?? '', user ?? '', password ?? '', {
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
  made.addHook('afterConnect', async found => {
    const connection = found as Connection
    limitConnection(connection)
    await prepareSession(connection)
    for (const statement of sessionLimits()) await connection.promise().query(statement).catch(ignoreUnknown)
  })
  define?.(made)
  return made
}

function ignoreUnknown(error: { errno?: number }): void {
  const UNKNOWN_VARIABLE = 1193
  if (error.errno !== UNKNOWN_VARIABLE) throw error
}
