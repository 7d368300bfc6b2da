// Rows of a backup into an empty database: the schema of then, the rows, and after them the newer migrations, so that
// these find what they would have found.
import { join } from 'node:path'
import { type Loader, withLoader } from '../../db/load.js'
import { migrateUp, migrationStates } from '../../db/migrate.js'
import { execute, marks, rows } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { Conflict, Misconfigured } from '../../errors.js'
import { QUEUES } from '../../queue/jobs.js'
import { disownChanges } from '../refs/ref-changes.js'
import { type Backup, checkUnit, refuseDamage } from './copy-back.js'
import { DATABASE_UNIT, dumpFile, readDump } from './dump.js'
import { Damaged, type DumpedTable } from './manifest.js'

/** Throws Conflict for a database that holds anything. */
export async function requireEmptyDatabase(): Promise<void> {
  const [found] = await rows<{ name: string }>(
    'select table_name as name from information_schema.tables where table_schema = database() limit 1'
  )
  if (found) throw new Conflict('the database is not empty: name an empty one by GITSTEAD_DATABASE_URL')
}

/** Loads all rows. Throws Damaged, and Misconfigured for a backup of a newer version. */
export async function loadRows(backup: Backup): Promise<void> {
  const { database, units } = backup.manifest
  const unit = units.find(({ path }) => path === DATABASE_UNIT)
  if (!unit) throw new Damaged(`${backup.folder} holds no rows`)
  await checkUnit(backup, unit, refuseDamage)
  const states = new Set((await migrationStates()).map(({ name }) => name))
  const foreign = database.migrations.find(name => !states.has(name))
  if (foreign !== undefined) {
    throw new Misconfigured(`the backup is of a newer version of Gitstead (it has ${foreign}): install that version`)
  }
  await migrateUp(database.migrations.at(-1))
  await withLoader(async loader => {
    for (const table of database.tables) await loadTable(backup, loader, table)
  })
  await migrateUp()
}

async function loadTable({ folder, manifest }: Backup, loader: Loader, table: DumpedTable): Promise<void> {
  const left = manifest.database.left_out.includes(table.name)
  const path = join(folder, DATABASE_UNIT, dumpFile(table.name))
  const count = await loader.load(table, left ? none() : readDump(path))
  if (count !== table.rows) throw new Damaged(`${path} holds ${count} rows, and the manifest says ${table.rows}`)
}

async function* none() {}

/** What the rows say of processes that are no more, and of projects that were removed beside the backup, is put right. */
export async function settleRows(removedProjects: readonly number[], options: { pauseJobs: boolean }): Promise<void> {
  await transact(async () => {
    // A job that ran at the snapshot is done again, as after a crash.
    await execute(
      `update jobs set state = 'ready', process_id = null, started_at = null, attempts = attempts - 1
       where state = 'running'`
    )
    await disownChanges()
    await removeProjects(removedProjects)
    if (!options.pauseJobs) return
    const now = new Date()
    for (const queue of QUEUES) {
      await execute('insert ignore into paused_queues (queue, paused_at) values (?, ?)', [queue, now])
    }
  })
}

async function removeProjects(ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await execute(
    `delete from pipeline_stages where pipeline_id in (select id from pipelines where project_id in (${marks(ids)}))`,
    ids
  )
  for (const table of ['builds', 'pipelines', 'ref_changes', 'runner_projects']) {
    await execute(`delete from ${table} where project_id in (${marks(ids)})`, ids)
  }
  await execute(`delete from members where source_type = 'project' and source_id in (${marks(ids)})`, ids)
  await execute(`delete from projects where id in (${marks(ids)})`, ids)
}
