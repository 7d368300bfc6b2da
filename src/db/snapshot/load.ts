// Loads rows into tables, many rows with one statement. It is the counterpart of snapshot.ts.
import type { Connection, RowDataPacket } from 'mysql2'
import { openConnection } from '../connect/connection.js'
import { translate } from '../connect/failure.js'
import type { TableRow, TableShape } from './snapshot.js'

type LoadedTable = Pick<TableShape, 'name' | 'columns' | 'next'>

export interface Loader {
  /**
   * Replaces all rows of a table. It leaves out columns that the table does not have, because somebody added them to the original
   * by hand. Returns the number of new rows, and the columns that it left out.
   */
  load(table: LoadedTable, rows: AsyncIterable<TableRow>): Promise<Loaded>
}

interface Loaded {
  readonly count: number
  readonly leftOut: readonly string[]
}

const ROWS = 1000
const CHARACTERS = 1_000_000

/** Runs `work` with a connection that stores rows unchanged. Throws Unavailable when the database cannot be reached. */
export async function withLoader<T>(work: (loader: Loader) => Promise<T>): Promise<T> {
  let connection: Connection | undefined
  try {
    const open = await openConnection()
    connection = open
    // A row with the number 0 keeps this number.
    await open.promise().query("set session sql_mode = concat(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')")
    return await work({ load: (table, rows) => load(open, table, rows) })
  } catch (error) {
    throw translate(error)
  } finally {
    connection?.destroy()
  }
}

async function load(connection: Connection, table: LoadedTable, rows: AsyncIterable<TableRow>): Promise<Loaded> {
  const { name, next } = table
  const send = (sql: string, values: unknown[] = []) => connection.promise().query(sql, values)
  // Some migrations insert rows themselves.
  await send(`delete from \`${name}\``)
  const known = await columnsOf(connection, name)
  const leftOut = table.columns.filter(column => !known.has(column.name)).map(column => column.name)
  const places = table.columns.map((_, at) => at).filter(at => known.has(table.columns[at]?.name ?? ''))
  const columns = table.columns.filter(column => known.has(column.name))
  const insert = `insert into \`${name}\` (${columns.map(column => `\`${column.name}\``).join(', ')}) values ?`
  const isBinary = columns.map(column => column.binary)
  let count = 0
  let size = 0
  let batch: (string | Buffer | null)[][] = []
  const flush = async () => {
    if (batch.length > 0) await send(insert, [batch])
    count += batch.length
    size = 0
    batch = []
  }
  for await (const row of rows) {
    const values = places.map(at => row[at] ?? null)
    batch.push(values.map((value, at) => (isBinary[at] && value !== null ? Buffer.from(value, 'base64') : value)))
    size += row.reduce((sum, value) => sum + (value?.length ?? 0), 0)
    if (batch.length === ROWS || size > CHARACTERS) await flush()
  }
  await flush()
  if (next !== null) await send(`alter table \`${name}\` auto_increment = ${Math.trunc(next)}`)
  return { count, leftOut }
}

async function columnsOf(connection: Connection, table: string): Promise<ReadonlySet<string>> {
  const [found] = await connection
    .promise()
    .query<RowDataPacket[]>(
      'select column_name as name from information_schema.columns where table_schema = database() and table_name = ?',
      [table]
    )
  return new Set(found.map(({ name }) => String(name)))
}
