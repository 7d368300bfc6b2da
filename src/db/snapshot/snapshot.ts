// Reads all rows as they were at one moment, while others write: one transaction sees the state at its start. Values
// stay in the text format of the server, so that a row that is loaded again is identical to the last digit.
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type { Connection, QueryOptions, RowDataPacket, TypeCastField } from 'mysql2'
import { openConnection } from '../connect/connection.js'
import { translate } from '../connect/failure.js'
import { TABLES } from '../ownership/ownership.js'

interface ColumnShape {
  readonly name: string
  /** True when the values are bytes; a row then contains base64. */
  readonly binary: boolean
}

export interface TableShape {
  readonly name: string
  readonly columns: readonly ColumnShape[]
  /** The columns of the primary key. */
  readonly key: readonly string[]
  /** The next automatic number, because deleted rows may have had the highest numbers. Null when the table has no automatic numbers. */
  readonly next: number | null
}

/** The values in the order of the columns, as text of the server or in base64. */
export type TableRow = readonly (string | null)[]

export interface Snapshot {
  readonly takenAt: Date
  /** Returns the tables of the product, sorted by name. */
  tables(): Promise<TableShape[]>
  /** Streams the rows of a table in the order of its primary key. The buffer of the stream limits the memory. */
  stream(table: TableShape): AsyncIterable<TableRow>
  rows<T>(sql: string, values?: readonly unknown[]): Promise<T[]>
}

const BYTES = /^(binary|varbinary|tinyblob|blob|mediumblob|longblob|bit)$/

/** Passes the database as it is at this moment to `work`. Throws Unavailable when the database cannot be reached. */
export async function withSnapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  let connection: Connection | undefined
  try {
    connection = await openConnection()
    await ask(connection, 'set session transaction isolation level repeatable read')
    await ask(connection, 'start transaction with consistent snapshot')
    return await work(snapshotOn(connection))
  } catch (error) {
    throw translate(error)
  } finally {
    connection?.destroy()
  }
}

function snapshotOn(connection: Connection): Snapshot {
  return {
    takenAt: new Date(),
    tables: () => readTables(connection),
    stream: table => streamTable(connection, table),
    rows: (sql, values) => ask(connection, sql, values)
  }
}

async function ask<T>(connection: Connection, sql: string, values: readonly unknown[] = []): Promise<T[]> {
  const [found] = await connection.promise().query<RowDataPacket[]>(sql, [...values])
  return found as T[]
}

async function readTables(connection: Connection): Promise<TableShape[]> {
  // MySQL answers from statistics that may be a day old. MariaDB does not have this setting.
  await ask(connection, 'set session information_schema_stats_expiry = 0').catch(() => undefined)
  const tables = await ask<{ name: string; next: number | null }>(
    connection,
    `select table_name as name, auto_increment as next from information_schema.tables
     where table_schema = database() and table_type = 'BASE TABLE' order by table_name`
  )
  // Each column gets a name, because MySQL writes its own names in capitals.
  const columns = await ask<{ of: string; name: string; type: string; extra: string }>(
    connection,
    `select table_name as 'of', column_name as name, data_type as type, extra as extra from information_schema.columns
     where table_schema = database() order by table_name, ordinal_position`
  )
  const keys = await ask<{ of: string; name: string }>(
    connection,
    `select table_name as 'of', column_name as name from information_schema.statistics
     where table_schema = database() and index_name = 'PRIMARY' order by table_name, seq_in_index`
  )
  const own = new Set<string>(TABLES)
  return tables
    .filter(({ name }) => own.has(name))
    .map(({ name, next }) => ({
      name,
      next,
      columns: columns
        .filter(column => column.of === name && !/(virtual|stored) generated/i.test(column.extra))
        .map(column => ({ name: column.name, binary: BYTES.test(column.type.toLowerCase()) })),
      key: keys.filter(({ of }) => of === name).map(key => key.name)
    }))
}

const quoted = (names: readonly string[]) => names.map(name => `\`${name}\``).join(', ')

async function* streamTable(connection: Connection, { name, columns, key }: TableShape): AsyncGenerator<TableRow> {
  const order = key.length > 0 ? ` order by ${quoted(key)}` : ''
  const binary = new Set(columns.filter(column => column.binary).map(column => column.name))
  const typeCast = (field: TypeCastField) =>
    binary.has(field.name) ? (field.buffer()?.toString('base64') ?? null) : field.string('utf8')
  const options = { rowsAsArray: true, typeCast } satisfies Partial<QueryOptions>
  const sql = `select ${quoted(columns.map(column => column.name))} from \`${name}\`${order}`
  const stream: Readable = connection.query({ sql, ...options }).stream({ highWaterMark: 200 })
  try {
    yield* stream as AsyncIterable<TableRow>
  } finally {
    // When the reader stops early, the connection must be destroyed: the rest of this result would arrive before the next one.
    if (!stream.readableEnded) connection.destroy()
    else if (!stream.closed) await once(stream, 'close')
  }
}
