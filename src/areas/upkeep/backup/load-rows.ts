// Loads the rows of a backup into an empty database: first the schema of that time, then the rows, then the newer migrations. So
// these migrations find the same rows as in an upgrade.
import { join } from 'node:path'
import { isWrongValue } from '../../../db/connect/failure.js'
import { execute, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { deleteRows, eraseOwned } from '../../../db/ownership/owned-rows.js'
import { migrateUp, migrationStates, UNFINISHED_RESTORE } from '../../../db/schema/migrate.js'
import { type Loader, withLoader } from '../../../db/snapshot/load.js'
import { Conflict, Misconfigured } from '../../../errors.js'
import { pauseQueue } from '../../../queue/administer.js'
import { QUEUES } from '../../../queue/jobs.js'
import { freeAllJobs } from '../../../queue/processes.js'
import { disownChanges } from '../../code/refs/ref-changes.js'
import { type Backup, checkUnit, refuseDamage } from './copy-back.js'
import { DATABASE_UNIT, dumpFile, readDump } from './dump.js'
import { Damaged, type DumpedTable } from './manifest.js'

/**
 * Prepares the database for loading: it must be empty, or contain the remains of a killed restore, which are deleted. Throws
 * Conflict when it contains anything else.
 */
export async function requireEmptyDatabase(): Promise<void> {
  const found = await rows<{ name: string }>(
    'select table_name as name from information_schema.tables where table_schema = database()'
  )
  if (found.length > 0 && found.every(({ name }) => name !== UNFINISHED_RESTORE)) {
    throw new Conflict('the database is not empty: choose an empty one with GITSTEAD_DATABASE_URL')
  }
  for (const { name } of found) if (name !== UNFINISHED_RESTORE) await execute(`drop table \`${name}\``)
  await execute(`create table if not exists ${UNFINISHED_RESTORE} (id tinyint not null primary key)`)
}

/** Marks the database as complete. */
export async function finishFilling(): Promise<void> {
  await execute(`drop table ${UNFINISHED_RESTORE}`)
}

/**
 * Loads all rows. Returns the columns that it left out, as `TABLE.COLUMN`: no migration makes them. Throws Damaged for rows that
 * have changed, and Misconfigured for a backup of a newer version.
 */
export async function loadRows(backup: Backup, signal?: AbortSignal): Promise<string[]> {
  const { database, units } = backup.manifest
  const unit = units.find(({ path }) => path === DATABASE_UNIT)
  if (!unit) throw new Damaged(`${backup.folder} contains no rows`)
  await checkUnit(backup, unit, refuseDamage)
  const states = new Set((await migrationStates()).map(({ name }) => name))
  const foreign = database.migrations.find(name => !states.has(name))
  if (foreign !== undefined) {
    throw new Misconfigured(`the backup is from a newer version of Gitstead (it has ${foreign}): install that version`)
  }
  await migrateUp(database.migrations.at(-1))
  const leftOut: string[] = []
  await withLoader(async loader => {
    for (const table of database.tables) leftOut.push(...(await loadTable(backup, loader, table, signal)))
  })
  await migrateUp()
  return leftOut
}

async function loadTable(
  backup: Backup,
  loader: Loader,
  table: DumpedTable,
  signal?: AbortSignal
): Promise<readonly string[]> {
  const { folder, manifest } = backup
  const left = manifest.database.left_out.includes(table.name)
  const path = join(folder, DATABASE_UNIT, dumpFile(table.name))
  const { count, leftOut } = await loader.load(table, left ? none() : until(signal, readDump(path))).catch(error => {
    throw isWrongValue(error) ? new Damaged(`${path} has rows that do not fit the table: ${error.message}`) : error
  })
  if (count !== table.rows) throw new Damaged(`${path} contains ${count} rows, but the manifest says ${table.rows}`)
  return leftOut.map(column => `${table.name}.${column}`)
}

async function* none() {}

/** Yields the rows until the signal aborts, and then throws its reason. */
async function* until<T>(signal: AbortSignal | undefined, list: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const each of list) {
    signal?.throwIfAborted()
    yield each
  }
}

/** Corrects the rows of jobs and ref changes of ended processes, and removes projects that were removed during the backup. */
export async function settleRows(removedProjects: readonly number[], options: { pauseJobs: boolean }): Promise<void> {
  await transact(async () => {
    await freeAllJobs()
    await disownChanges()
    await removeProjects(removedProjects)
    if (!options.pauseJobs) return
    for (const queue of QUEUES) await pauseQueue(queue)
  })
}

/** Removes all rows at once: nothing else uses this database yet, and files of builds are copied only for existing rows. */
async function removeProjects(ids: readonly number[]): Promise<void> {
  const { signal } = new AbortController()
  for (const id of ids) await eraseOwned('projects', id, { signal })
  await deleteRows('projects', ids)
}
