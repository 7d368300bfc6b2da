// Removes rows with their owners, as ownership.ts specifies. Statements list at most a thousand ids, because MariaDB
// before 11.1 reads the whole table for a DELETE whose condition contains a SELECT.
import { batches } from '../../lib/batches.js'
import { deleteInBatches, execute, marks, rows, type Value } from '../connect/sql.js'
import { transact } from '../connect/transact.js'
import { goesWith, linksTo, tablesOf } from './owned-tables.js'
import type { Link, TableName } from './ownership.js'

const AT_ONCE = 1000
const ERASED_AT_ONCE = 200

/**
 * Deletes rows, with all rows whose fate is `deleted`, and sets the `nulled` columns. `eraseOwned` handles the fates
 * `erased` and `forgotten` afterwards. Joins the caller's transaction. `projectId` is the project that shows the rows, if it is one.
 */
export const deleteRows = (table: TableName, ids: readonly number[], projectId?: number): Promise<void> =>
  deleteThem(table, ids, { projectId, goes: ({ fate }) => fate === 'deleted' })

/** The same, but it also deletes the rows whose fate is `erased`, at once: for rows that own few others. */
export const deleteWhole = (table: TableName, ids: readonly number[]): Promise<void> =>
  deleteThem(table, ids, { projectId: undefined, goes: goesWith })

interface Deletion {
  readonly projectId: number | undefined
  readonly goes: (link: Link) => boolean
}

async function deleteThem(table: TableName, ids: readonly number[], deletion: Deletion): Promise<void> {
  await transact(async () => {
    for (const some of batches(ids, AT_ONCE)) {
      await deleteOwned(table, some, deletion)
      await execute(`delete from ${table} where id in (${marks(some)})`, some, deletion.projectId)
    }
  })
}

async function deleteOwned(owner: TableName, ids: readonly number[], deletion: Deletion): Promise<void> {
  const { projectId, goes } = deletion
  for (const { table, link } of linksTo(owner)) {
    // Rows of other projects may link to them, too.
    if (link.fate === 'nulled') await setNull(table, link, ids)
    if (!goes(link)) continue
    const { sql, values } = conditionOf(link, ids)
    if (linksTo(table).some(({ link: each }) => goes(each) || each.fate === 'nulled')) {
      const found = await rows<{ id: number }>(`select id from ${table} where ${sql}`, values)
      for (const some of batches(
        found.map(({ id }) => id),
        AT_ONCE
      ))
        await deleteOwned(table, some, deletion)
    }
    await execute(`delete from ${table} where ${sql}`, values, projectId)
  }
}

export interface EraseOptions {
  readonly signal: AbortSignal
  /** Removes data outside the database, such as files, before the rows of a table. May run twice for the same rows. */
  readonly before?: { readonly [Table in TableName]?: (ids: readonly number[]) => Promise<void> }
}

/**
 * Removes what is left of a removed owner: deletes rows in batches, and sets the `forgotten` columns to null. It also
 * handles the `deleted` and `nulled` rows, which may have been added at the moment of the removal. When it is killed,
 * the next call continues. Throws the reason of the signal when the signal aborts.
 */
export async function eraseOwned(owner: 'projects' | 'users', id: number, options: EraseOptions): Promise<void> {
  for (const { table, link } of linksTo(owner)) {
    if (goesWith(link)) await erase(table, link, [id], options)
    if (link.fate === 'nulled') await setNull(table, link, [id])
    if (link.fate === 'forgotten') await forget(table, link, id, options.signal)
  }
}

async function erase(table: TableName, link: Link, owners: readonly number[], options: EraseOptions): Promise<void> {
  const { signal, before } = options
  const { sql, values } = conditionOf(link, owners)
  const owned = linksTo(table).filter(({ link: each }) => goesWith(each) || each.fate === 'nulled')
  if (!before?.[table] && owned.length === 0) {
    await deleteInBatches(`delete from ${table} where ${sql}`, values, () => signal.throwIfAborted())
    return
  }
  for (;;) {
    signal.throwIfAborted()
    const found = await rows<{ id: number }>(`select id from ${table} where ${sql} limit ${ERASED_AT_ONCE}`, values)
    if (found.length === 0) return
    const ids = found.map(({ id }) => id)
    await before?.[table]?.(ids)
    for (const each of owned) {
      if (goesWith(each.link)) await erase(each.table, each.link, ids, options)
      else await setNull(each.table, each.link, ids)
    }
    await execute(`delete from ${table} where id in (${marks(ids)})`, ids)
  }
}

const GIVEN_AT_ONCE = 500

/**
 * Gives the contributions of a user to another user, in batches. Returns the number of rows by table. When it is killed, the next
 * call continues.
 */
export async function giveContributions(from: number, to: number): Promise<Partial<Record<TableName, number>>> {
  const given: Partial<Record<TableName, number>> = {}
  for (const { table, link } of linksTo('users')) {
    const { column, contribution } = link
    if (contribution === undefined) continue
    const statement = `update ${table} set ${column} = ? where ${column} = ? and ${contribution} order by ${column} limit ${GIVEN_AT_ONCE}`
    for (let changed = GIVEN_AT_ONCE; changed === GIVEN_AT_ONCE; ) {
      changed = (await execute(statement, [to, from])).affectedRows
      given[table] = (given[table] ?? 0) + changed
    }
  }
  return given
}

/**
 * Gives everything that names a user in projects to another user, except memberships. Where both have a row of which one user has only
 * one, such as a participant, that of the other user stays, and the one of the first is left. Returns the number of rows by table.
 */
export async function giveRecords(from: number, to: number): Promise<Partial<Record<TableName, number>>> {
  const given = await giveContributions(from, to)
  const ofProjects = new Set(tablesOf('projects'))
  ofProjects.delete('members')
  for (const { table, link } of linksTo('users')) {
    if (link.contribution !== undefined || !ofProjects.has(table)) continue
    // Not in batches: a row that stays would be found again and again.
    const statement = `update ignore ${table} set ${link.column} = ? where ${link.column} = ?`
    const { changedRows } = await execute(statement, [to, from])
    if (changedRows > 0) given[table] = (given[table] ?? 0) + changedRows
  }
  return given
}

/** Sets a column to null in batches, so that no statement holds many locks for long. */
async function forget(table: TableName, link: Link, owner: number, signal: AbortSignal): Promise<void> {
  const { sql, values } = conditionOf(link, [owner])
  for (;;) {
    signal.throwIfAborted()
    const statement = `update ${table} set ${link.column} = null where ${sql} order by ${link.column} limit ${AT_ONCE}`
    const { affectedRows } = await execute(statement, values)
    if (affectedRows < AT_ONCE) return
  }
}

interface Where {
  readonly sql: string
  readonly values: readonly Value[]
}

async function setNull(table: TableName, link: Link, owners: readonly number[]): Promise<void> {
  const { sql, values } = conditionOf(link, owners)
  await execute(`update ${table} set ${link.column} = null where ${sql}`, values)
}

/** Returns the SQL condition for the rows that link to these owners. */
function conditionOf({ column, when }: Link, owners: readonly number[]): Where {
  const isOwned = `${column} in (${marks(owners)})`
  return when
    ? { sql: `${when[0]} = ? and ${isOwned}`, values: [when[1], ...owners] }
    : { sql: isOwned, values: owners }
}
