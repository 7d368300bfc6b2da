// Removes files of the home that have no row in the database and are older than a day: a new file gets its row just before or
// after the file itself. It follows no links, so it reads nothing outside of the home.
import { rm } from 'node:fs/promises'
import { relative } from 'node:path'
import { config } from '../../../config.js'
import { row } from '../../../db/connect/sql.js'
import { Misconfigured } from '../../../errors.js'
import { removeRepository } from '../../../git/repository/repository.js'
import type { Task, TaskContext } from '../../../queue/task.js'
import { removeFolder } from '../../../runner/folders.js'
import { removeRecords } from '../../../storage/records.js'
import { removeObject } from '../../../storage/s3.js'
import { type Orphans, orphanedBuildFiles, orphanedObjects } from '../../ci/builds/files/orphaned-files.js'
import { orphanedRepositories } from '../../code/repository/orphaned-repositories.js'
import { orphanedRecords } from '../../ground/records/archived-files.js'
import { stateOfKey } from '../../ground/settings/encryption-key.js'
import { leftovers } from './temporary-files.js'

const AGE_MS = 86_400_000
/** Up to this many orphans are plausible, even when the home holds no other files of the kind. */
const FEW = 10

export interface Found {
  readonly repositories: readonly string[]
  readonly drafts: readonly string[]
  readonly artifacts: readonly string[]
  readonly traces: readonly string[]
  /** Names of files of old records, on the disk or in the bucket. */
  readonly records: readonly string[]
  readonly temporary: readonly string[]
  /** Names of objects in the bucket. */
  readonly objects: readonly string[]
}

export const orphanedFiles: Task = {
  name: 'orphaned_files',
  usesRepositories: true,
  schedule: '3 4 * * *',
  about:
    'removes repositories, traces, artifacts and files of old records without a row, and files that killed processes left behind',
  run: context => removeOrphans(context)
}

/**
 * Finds files without a row; it reads the files of builds in at most `folders` folders. Throws Misconfigured when the database
 * seems to belong to another home, because then all files here would look like orphans.
 */
export async function findOrphans(now = new Date(), folders?: number): Promise<Found> {
  const before = now.getTime() - AGE_MS
  const repositories = await orphanedRepositories(before)
  const artifacts = await orphanedBuildFiles('artifacts', before, folders)
  const traces = await orphanedBuildFiles('traces', before, folders)
  const records = folders === undefined ? await orphanedRecords(before) : { paths: [], looked: 0 }
  // A limited search does not read the whole bucket.
  const objects =
    folders === undefined ? [await orphanedObjects('artifacts', before), await orphanedObjects('traces', before)] : []
  // A new home without users has no files yet. That is not a fault.
  if ([repositories, artifacts, traces, records, ...objects].some(({ paths }) => paths.length > 0))
    await requireOwnDatabase()
  const kinds: [string, Orphans][] = objects.map(kind => ['objects of the bucket', kind])
  for (const [what, { paths, looked }] of [...Object.entries({ repositories, artifacts, traces, records }), ...kinds]) {
    if (paths.length <= FEW || paths.length * 2 <= looked) continue
    throw new Misconfigured(
      `${paths.length} of ${looked} ${what} have no record: is this the database of another home? Nothing was removed`
    )
  }
  const { paths, drafts } = repositories
  return {
    repositories: paths,
    drafts,
    artifacts: artifacts.paths,
    traces: traces.paths,
    records: records.paths,
    temporary: await leftovers(before),
    objects: objects.flatMap(({ paths }) => paths)
  }
}

/** Throws Misconfigured unless the key of this home is that of the database: otherwise it belongs to another home. */
async function requireOwnDatabase(): Promise<void> {
  const why = 'no file counts as an orphan'
  if (!(await row('select 1 from users limit 1'))) throw new Misconfigured(`the database has no users: ${why}`)
  const state = await stateOfKey()
  if (state === 'missing') throw new Misconfigured(`the home has no secrets: ${why}`)
  if (state === 'wrong') {
    throw new Misconfigured(`the database belongs to another home, because it has other secrets: ${why}`)
  }
}

/** Removes orphans; a dry run only notes them. Returns the number of each kind. */
export async function removeOrphans({ dryRun, signal, count, note }: TaskContext, now = new Date()) {
  const found = await findOrphans(now)
  const each = async (paths: readonly string[], remove: (path: string) => Promise<void>) => {
    for (const path of paths) {
      signal.throwIfAborted()
      if (!dryRun) await remove(path)
      count()
      note(relative(config().home, path))
    }
  }
  await each(found.repositories, removeRepository)
  // A build may have removed the permissions of its folder: removeFolder handles that too.
  await each([...found.drafts, ...found.temporary], removeFolder)
  await each([...found.artifacts, ...found.traces], path => rm(path, { force: true }))
  for (const name of found.records) {
    signal.throwIfAborted()
    if (!dryRun) await removeRecords(name)
    count()
    note(name)
  }
  for (const name of found.objects) {
    signal.throwIfAborted()
    if (!dryRun) await removeObject(name)
    count()
    note(`${name} of the bucket`)
  }
  return Object.fromEntries(Object.entries(found).map(([name, paths]) => [name, paths.length]))
}
