// The pool of connections for models and transactions. It is separate from the pool for prepared statements because
// Sequelize takes 200 ms to load: a command that only reads does not need it.
import type { Connection, RowDataPacket } from 'mysql2'
import { config } from '../../config.js'
import { address, CONNECT_MS, prepareSession, STATEMENTS, withPool } from './connection.js'
import { changesContent, noteChange } from './content.js'
import { mysql } from './driver.js'
import { Sequelize, Transaction } from './orm.js'
import { scopes, transactionNamespace } from './scope.js'
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

/** Sequelize's own types declare neither these methods nor the constructor. */
interface Connections {
  getConnection(options: { readonly uuid: string }): Promise<Connection & { uuid?: string | undefined }>
  releaseConnection(connection: Connection): void
  destroyConnection(connection: Connection): Promise<void>
}
interface Opened extends Transaction {
  readonly id: string
  connection?: Connection
  finished?: 'commit' | 'rollback'
}
const OpenTransaction = Transaction as unknown as new (pool: Sequelize, options: object) => Opened

/** The connections to nodes of a Galera cluster. */
const clustered = new WeakSet<Connection>()

/**
 * A node ends a transaction that conflicts with a change of another node at any time, also when nobody waits for an answer that could
 * say so. Statements after that would be transactions of their own, and part of the work would be stored. So nothing is stored without
 * a commit, and a savepoint from the beginning must still exist before it.
 */
const BEGIN_IN_CLUSTER = ['set autocommit = 0', 'savepoint beginning']
const IS_WHOLE = 'release savepoint beginning'

/**
 * A transaction of Sequelize that models accept, on one of its connections. Its first and last statements go straight to the
 * driver: with Sequelize, they cost more processor time than three inserts.
 */
export class OwnTransaction {
  private constructor(
    readonly transaction: Opened,
    private readonly connections: Connections,
    private readonly connection: Connection & { uuid?: string | undefined }
  ) {}

  static async begin(): Promise<OwnTransaction> {
    const open = sequelize()
    const transaction = new OpenTransaction(open, {})
    const connections = (open as unknown as { readonly connectionManager: Connections }).connectionManager
    const connection = await connections.getConnection({ uuid: transaction.id })
    transaction.connection = connection
    connection.uuid = transaction.id
    const made = new OwnTransaction(transaction, connections, connection)
    const statements = made.isClustered ? BEGIN_IN_CLUSTER : ['start transaction']
    for (const statement of statements) await made.send(statement).catch(error => made.destroy(error))
    return made
  }

  private get isClustered(): boolean {
    return clustered.has(this.connection)
  }

  /** When this fails, it is unknown whether the changes were stored, unless the error is retriable. */
  async commit(): Promise<void> {
    if (this.isClustered) await this.send(IS_WHOLE).catch(error => this.destroy(error))
    await this.end('commit')
  }

  async rollback(): Promise<void> {
    await this.end('rollback')
  }

  /** Ends the connection, which rolls back, and throws the error. */
  async destroy(error: unknown): Promise<never> {
    this.transaction.finished ??= 'rollback'
    await this.connections.destroyConnection(this.connection)
    throw error
  }

  private async end(how: 'commit' | 'rollback'): Promise<void> {
    this.transaction.finished = how
    await this.send(how).catch(error => this.destroy(error))
    this.connection.uuid = undefined
    try {
      if (this.isClustered) await this.send('set autocommit = 1')
    } catch {
      // The transaction has ended well all the same.
      return this.connections.destroyConnection(this.connection).catch(() => undefined)
    }
    this.connections.releaseConnection(this.connection)
  }

  /** Sends a statement without values. */
  send(sql: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.connection.query(sql, error => (error ? reject(error) : resolve()))
    })
  }
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
    // Otherwise Sequelize looks for the driver by its name, and the process has it twice.
    dialectModule: mysql,
    host: host ?? 'localhost',
    port: port ?? 3306,
    dialectOptions: {
      ...(socketPath ? { socketPath } : {}),
      connectTimeout: CONNECT_MS,
      maxPreparedStatements: STATEMENTS
    },
    timezone: '+00:00',
    logging: noteStatement,
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
    await connection.promise().query(sessionLimits())
    const [cluster] = await connection.promise().query<RowDataPacket[]>("show variables like 'wsrep_on'")
    if (cluster[0]?.Value === 'ON') clustered.add(connection)
  })
  define?.(made)
  return made
}

/** Models write rows that records of planning show, such as users. `text` is `Executing (ID): STATEMENT`. */
function noteStatement(text: string): void {
  const scope = scopes.getStore()
  const sql = text.slice(text.indexOf(':') + 1)
  if (scope && !/^\s*select/i.test(sql)) scope.hasWritten = true
  if (!changesContent(sql)) return
  if (!scope?.transaction) throw new Error('this change of a model needs a transaction: records of planning show it')
  noteChange(scope)
}
