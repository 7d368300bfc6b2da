// Changes the schema, with umzug. A row with a lease stops two processes from migrating at the same time. It needs no
// server-wide lock, so it also works on the endpoint of a cluster.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RowDataPacket } from 'mysql2'
import { Misconfigured, Unavailable } from '../../errors.js'
import { EXACT_COLLATION } from '../connect/collations.js'
import { openConnection } from '../connect/connection.js'
import { isAlreadyMade, translate } from '../connect/failure.js'
import { execute, row, rows } from '../connect/sql.js'
import type { Fill } from '../migrations/migration.js'
import { migrationNames } from '../migrations/names.js'

export interface MigrationState {
  readonly name: string
  /** Also null for a migration that a killed rollback has half undone: it is applied again, or undone completely. */
  readonly applied_at: Date | null
  readonly half_undone: boolean
}

/** A restore creates this table first and drops it last. */
export const UNFINISHED_RESTORE = 'unfinished_restore'

/** Follows the name of a migration while it is being undone: MySQL commits each change of a table separately. */
const UNDOING = ' undoing'

/** Seconds. After this time, a process that died during a migration no longer blocks others. */
const LEASE = 15

/**
 * Migrates the schema to this version, or up to the migration `last`. Returns the names of the applied migrations.
 * Waits while another process migrates. Throws Misconfigured when the schema is too new for this version.
 */
export async function migrateUp(last?: string): Promise<string[]> {
  await prepare()
  if ((await pending()).length === 0) return []
  return underLock(async () => {
    await keepCollation()
    const done = await (await umzug('up')).up(last === undefined ? {} : { to: last })
    return done.map(({ name }) => name)
  })
}

/** Rolls back the newest `steps` migrations. Returns their names. Throws Misconfigured when a newer version created the schema. */
export async function migrateDown(steps = 1): Promise<string[]> {
  await prepare()
  await requireNoNewer()
  return underLock(async () => {
    const done = await (await umzug('down')).down({ step: steps })
    return done.map(({ name }) => name)
  })
}

/**
 * Returns every migration with the time when it was applied. It only reads: it creates no tables in a database without
 * a schema. Throws Misconfigured when the schema is too new for this version.
 */
export async function migrationStates(): Promise<MigrationState[]> {
  const applied = new Map((await knownRows()).map(row => [row.name, row]))
  return migrationNames.map(name => {
    const { applied_at = null, undoing = false } = applied.get(name) ?? {}
    return { name, applied_at: undoing ? null : applied_at, half_undone: undoing }
  })
}

const pending = async () => (await migrationStates()).filter(({ applied_at }) => applied_at === null)

/** Returns true when every migration of this version is applied. */
export const schemaIsCurrent = async () => (await pending()).length === 0

/** Returns true when the database has no schema yet. */
export const schemaIsNew = async () =>
  (await migrationStates()).every(state => state.applied_at === null && !state.half_undone)

/** Returns whether a process migrates the schema at this moment. */
export async function isMigrating(): Promise<boolean> {
  if (!(await exists('schema_lock'))) return false
  return (await row('select 1 from schema_lock where id = 1 and expires_at > ?', [new Date()])) !== undefined
}

/** The failure of commands and processes that need the schema while another process migrates it. */
export const migrating = () => new Unavailable('the appliance is migrating its database: try again when it is ready')

/**
 * Throws Misconfigured unless this version can work with the schema, and Unavailable while another process migrates it. It
 * changes nothing.
 */
export async function requireSchema(): Promise<void> {
  const missing = await pending()
  if (missing.length > 0 && (await isMigrating())) throw migrating()
  const half = missing.find(state => state.half_undone)
  if (half)
    throw new Misconfigured(
      `a rollback of ${half.name} is unfinished: run gitstead db rollback again, or gitstead db migrate to keep it`
    )
  if (missing.length > 0)
    throw new Misconfigured('the database schema is older than the program: run gitstead db migrate')
  if (await exists(UNFINISHED_RESTORE))
    throw new Misconfigured('the database contains an unfinished restore: run gitstead restore again')
}

/** Imports umzug and the migrations only when there is something to do: they take 100 ms, and are not needed at most starts. */
async function umzug(direction: 'up' | 'down') {
  const [{ Umzug }, { migrations }] = await Promise.all([import('umzug'), import('../migrations/list.js')])
  return new Umzug({
    migrations: migrations.map(({ name, up, fill = [], down }) => ({
      name,
      up: async () => {
        await onFreshConnection(up)
        for (const each of fill) await inBatches(each)
      },
      down: async () => {
        await execute('update schema_migrations set name = ? where name = ?', [name + UNDOING, name])
        await onFreshConnection(down)
      }
    })),
    storage: {
      logMigration: async ({ name }) => {
        await execute('insert into schema_migrations (name, applied_at) values (?, ?)', [name, new Date()])
        await execute('delete from schema_migrations where name = ?', [name + UNDOING])
      },
      unlogMigration: async ({ name }) => {
        await execute('delete from schema_migrations where name = ?', [name + UNDOING])
      },
      // A migration that is half undone can still be undone, and can be applied again.
      executed: async () =>
        (await appliedRows()).filter(({ undoing }) => direction === 'down' || !undoing).map(({ name }) => name)
    },
    logger: undefined
  })
}

/**
 * Runs the statements of a migration on a separate connection. Its time has no limit: a large table takes as long as it
 * takes. A connection keeps the default collation that the database had when it was opened, so only on a new connection
 * do new tables get the collation that an earlier migration gave the database.
 */
async function onFreshConnection(statements: readonly string[]): Promise<void> {
  const connection = await openConnection()
  try {
    await inOrder(statements, sql => connection.promise().query(sql))
  } finally {
    connection.destroy()
  }
}

/** Since this migration, the database has an exact collation, which tables of later migrations get. */
const EXACT_SINCE = '0010-identifiers'

/**
 * Gives the database the exact collation again. A dump that was loaded into a database of another name does not contain it, and new
 * tables would compare names without case, and could not be joined with the others.
 */
async function keepCollation(): Promise<void> {
  if ((await pending()).some(({ name }) => name === EXACT_SINCE)) return
  await onFreshConnection([`alter database character set utf8mb4 collate ${EXACT_COLLATION}`])
}

const FILLED_AT_ONCE = 1000

async function inBatches({ of, each }: Fill): Promise<void> {
  const connection = await openConnection()
  try {
    const send = (sql: string, values: number[] = []) => connection.promise().query<RowDataPacket[]>(sql, values)
    const [[last]] = await send(`select coalesce(max(id), 0) as id from ${of}`)
    for (let from = 1; from <= Number(last?.id); from += FILLED_AT_ONCE) {
      await send(each, [from, from + FILLED_AT_ONCE - 1])
    }
  } finally {
    connection.destroy()
  }
}

/** Ignores a change of a table that an earlier run made before it died: MySQL has no `add column if not exists`. */
async function inOrder(statements: readonly string[], send: (sql: string) => Promise<unknown>): Promise<void> {
  for (const statement of statements) {
    try {
      await send(statement)
    } catch (error) {
      if (!isAlreadyMade(error)) throw error
    }
  }
}

async function prepare(): Promise<void> {
  try {
    await inOrder(
      [
        `create table if not exists schema_migrations (
        name varchar(128) character set ascii not null primary key, applied_at datetime(3) not null)`,
        `create table if not exists schema_lock (
        id tinyint not null primary key, holder char(36) character set ascii not null, expires_at datetime(3) not null)`
      ],
      execute
    )
  } catch (error) {
    throw translate(error)
  }
}

/**
 * Returns the rows of the applied migrations that this version knows. Throws Misconfigured when a newer version has removed something
 * that this one uses. Newer migrations that only expand the schema do no harm: machines are upgraded one after another.
 */
async function knownRows() {
  const applied = await allRows()
  const harmful = applied.find(({ name }) => !migrationNames.includes(name) && !isHarmless(name))
  if (harmful) throw tooNew(harmful.name)
  return applied.filter(({ name }) => migrationNames.includes(name))
}

const allRows = async () => ((await exists('schema_migrations')) ? appliedRows() : [])

/** A migration that contracts the schema names the first migration whose programs can do without what it removes. */
const CONTRACT = /^\d{4}-contract-(\d{4})-/

function isHarmless(newer: string): boolean {
  const needed = CONTRACT.exec(newer)?.[1]
  return needed === undefined || migrationNames.some(name => name.startsWith(`${needed}-`))
}

/** Returns the names of the applied migrations of newer versions. */
export const newerMigrations = async (): Promise<string[]> =>
  (await allRows()).map(({ name }) => name).filter(name => !migrationNames.includes(name))

/** Throws Misconfigured when a newer version has migrated the schema: only that version can undo its migrations. */
export async function requireNoNewer(): Promise<void> {
  const [newer] = await newerMigrations()
  if (newer !== undefined) throw tooNew(newer)
}

const tooNew = (name: string) =>
  new Misconfigured(
    `the database was created by a newer version of Gitstead (it has ${name}): install that version or a newer one`
  )

const exists = (table: string) =>
  row('select 1 from information_schema.tables where table_schema = database() and table_name = ?', [table])

async function appliedRows() {
  const found = await rows<{ name: string; applied_at: Date }>(
    'select name, applied_at from schema_migrations order by name'
  )
  const whole = new Set(found.map(({ name }) => name))
  return found.flatMap(({ name, applied_at }) => {
    const undoing = name.endsWith(UNDOING)
    const plain = undoing ? name.slice(0, -UNDOING.length) : name
    // For a moment, a migration that was applied again may have two rows.
    return undoing && whole.has(plain) ? [] : { name: plain, applied_at, undoing }
  })
}

async function underLock<T>(fn: () => Promise<T>): Promise<T> {
  const holder = randomUUID()
  await execute("insert ignore into schema_lock (id, holder, expires_at) values (1, '', '2000-01-01')")
  while (!(await take(holder))) await sleep(100)
  const renew = setInterval(() => void take(holder).catch(() => undefined), (LEASE / 3) * 1000)
  try {
    return await fn()
  } finally {
    clearInterval(renew)
    await execute("update schema_lock set expires_at = '2000-01-01' where id = 1 and holder = ?", [holder])
  }
}

async function take(holder: string): Promise<boolean> {
  const now = new Date()
  const until = new Date(now.getTime() + LEASE * 1000)
  const taken = await execute(
    'update schema_lock set holder = ?, expires_at = ? where id = 1 and (expires_at < ? or holder = ?)',
    [holder, until, now, holder]
  )
  return taken.affectedRows === 1
}
