// Compares the schema of the database with the one that the migrations make. The expected schema is read from a scratch database
// on the same server: MariaDB and MySQL, and their versions, describe the same column in different words.
import type { Connection, RowDataPacket } from 'mysql2'
import { Failure } from '../../errors.js'
import { address, openConnection } from '../connect/connection.js'
import { translate } from '../connect/failure.js'

/** The name of each table, column and index, such as `index users.users_username`, with its definition. */
export type SchemaShape = ReadonlyMap<string, string>

/** The first table of a scratch database. It proves that the database is one, and since when. */
const SCRATCH_MARK = 'schema_check_mark'

/** Tables of the migrations, of a restore and of a scratch database themselves. */
const NOT_COMPARED: ReadonlySet<string> = new Set([
  'schema_migrations',
  'schema_lock',
  'unfinished_restore',
  SCRATCH_MARK
])

/** Milliseconds after which a scratch database was left behind by a killed process. */
const ABANDONED = 600_000

/** The server refuses to make the scratch database, so the schema cannot be compared. */
export class NoScratchDatabase extends Failure {}

/** Returns the schema of the database of this process. Throws Unavailable. */
export const currentShape = (): Promise<SchemaShape> => withConnection(connection => readShape(connection, ownName()))

/** Returns the schema that the migrations make, in a scratch database. Throws NoScratchDatabase and Unavailable. */
export const expectedShape = (): Promise<SchemaShape> =>
  withConnection(async connection => {
    const scratch = `${ownName()}_schema_check`
    await makeScratch(connection, scratch)
    try {
      const { migrations } = await import('../migrations/list.js')
      for (const { up } of migrations) {
        // A connection learns the default collation of a database when it selects it, and a migration may have changed it.
        await ask(connection, `use ${quoted(scratch)}`)
        for (const statement of up) await ask(connection, statement)
      }
      return await readShape(connection, scratch)
    } finally {
      await ask(connection, `drop database ${quoted(scratch)}`)
    }
  })

/** Returns one line for each difference. A missing or extra table has one line, without its columns and indexes. */
export function compareShapes(found: SchemaShape, expected: SchemaShape): string[] {
  const told = (name: string) => found.has(`table ${tableOf(name)}`) && expected.has(`table ${tableOf(name)}`)
  const known = (name: string) => name.startsWith('table ') || name.startsWith('database') || told(name)
  const names = [...new Set([...expected.keys(), ...found.keys()])].filter(known).sort()
  return names.flatMap(name => {
    const [is, should] = [found.get(name), expected.get(name)]
    if (is === should) return []
    if (is === undefined) return [`${name} is missing: ${should}`]
    if (should === undefined) return [`${name} is extra: ${is}`]
    return [`${name} is ${is}, but should be ${should}`]
  })
}

const tableOf = (name: string) => /^\w+ ([^.]*)/.exec(name)?.[1] ?? ''

async function withConnection<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
  let connection: Connection | undefined
  try {
    connection = await openConnection()
    return await work(connection)
  } catch (error) {
    throw translate(error)
  } finally {
    connection?.destroy()
  }
}

const ownName = () => address().database ?? ''
const quoted = (name: string) => `\`${name.replaceAll('`', '``')}\``

async function ask<Row>(connection: Connection, sql: string, values: readonly string[] = []): Promise<Row[]> {
  const [found] = await connection.promise().query<RowDataPacket[]>(sql, [...values])
  return found as Row[]
}

/** 1007: the database exists. 1044, 1142 and 1227: the account may not make one. */
async function makeScratch(connection: Connection, name: string): Promise<void> {
  const make = () => ask(connection, `create database ${quoted(name)} character set utf8mb4 collate utf8mb4_unicode_ci`)
  try {
    await make()
  } catch (error) {
    const { errno } = error as { errno?: number }
    if (errno === 1044 || errno === 1142 || errno === 1227)
      throw new NoScratchDatabase(`the account of the database may not create the database ${name} to compare with`)
    if (errno !== 1007) throw error
    await requireAbandoned(connection, name)
    await ask(connection, `drop database ${quoted(name)}`)
    await make()
  }
  await markScratch(connection, name)
}

/** 1049 and 1050: a process that started at the same time took the database without tables for an abandoned one. */
async function markScratch(connection: Connection, name: string): Promise<void> {
  try {
    await ask(connection, `create table ${quoted(name)}.${SCRATCH_MARK} (id int primary key)`)
  } catch (error) {
    const { errno } = error as { errno?: number }
    throw errno === 1049 || errno === 1050 ? inUse(name) : error
  }
}

const inUse = (name: string) => new NoScratchDatabase(`another process compares the schema, with the database ${name}`)

/** A process that was killed leaves a database without tables, or one with the mark. Any other database belongs to somebody else. */
async function requireAbandoned(connection: Connection, name: string): Promise<void> {
  const tables = await ask<{ name: string; age: number }>(
    connection,
    `select table_name as name, timestampdiff(second, create_time, now()) as age from information_schema.tables
     where table_schema = ?`,
    [name]
  )
  if (tables.length === 0) return
  const mark = tables.find(table => table.name === SCRATCH_MARK)
  if (!mark)
    throw new NoScratchDatabase(
      `the database ${name} has tables, but not the mark of a scratch database: drop it if nobody needs it`
    )
  if (mark.age * 1000 <= ABANDONED) throw inUse(name)
}

interface Described {
  readonly of: string
  readonly name: string
  readonly words: string
}

// Each column gets a name, because MySQL writes its own names in capitals. MariaDB calls the default of a column that may be null
// `NULL` or null, by the way in which the column was made.
async function readShape(connection: Connection, database: string): Promise<SchemaShape> {
  const collations = await ask<{ words: string }>(
    connection,
    'select default_collation_name as words from information_schema.schemata where schema_name = ?',
    [database]
  )
  const tables = await ask<Described>(
    connection,
    `select table_name as 'of', concat_ws(' ', lower(table_type), engine, table_collation) as words
     from information_schema.tables where table_schema = ?`,
    [database]
  )
  const columns = await ask<Described>(
    connection,
    `select table_name as 'of', column_name as name, concat_ws(' ', column_type, collation_name,
       case is_nullable when 'YES' then 'null' else 'not null' end,
       concat('default ', case when column_default = 'NULL' then null else column_default end),
       nullif(lower(extra), '')) as words
     from information_schema.columns where table_schema = ?`,
    [database]
  )
  const indexes = await ask<Described>(
    connection,
    `select table_name as 'of', index_name as name, concat(case when min(non_unique) = 0 then 'unique ' else '' end, '(',
       group_concat(concat(coalesce(column_name, '?'), coalesce(concat('(', sub_part, ')'), ''))
         order by seq_in_index separator ', '), ')') as words
     from information_schema.statistics where table_schema = ? group by table_name, index_name`,
    [database]
  )
  const compared = ({ of }: Described) => !NOT_COMPARED.has(of)
  return new Map([
    ['database', collations[0]?.words ?? ''],
    ...tables.filter(compared).map(({ of, words }) => [`table ${of}`, words] as const),
    ...columns.filter(compared).map(({ of, name, words }) => [`column ${of}.${name}`, words] as const),
    ...indexes.filter(compared).map(({ of, name, words }) => [`index ${of}.${name}`, words] as const)
  ])
}
