// Removes what lies in the home and no row speaks of. Only what is older than a day: what is just being made has its row
// later than its file, or the other way round. Nothing outside of the home is looked at, as no link is followed.
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { config } from '../../config.js'
import { row } from '../../db/sql.js'
import { Misconfigured } from '../../errors.js'
import { removeRepository } from '../../git/repository.js'
import type { Task, TaskContext } from '../../queue/task.js'
import { removeFolder } from '../../runner/folders.js'
import { decrypt } from '../../secrets.js'
import { orphanedBuildFiles } from '../builds/orphaned-files.js'
import { orphanedRepositories } from '../repository/orphaned-repositories.js'
import { leftovers } from './leftovers.js'

const AGE_MS = 86_400_000
/** As many as these may well be all there are. */
const FEW = 10

export interface Found {
  readonly repositories: readonly string[]
  readonly drafts: readonly string[]
  readonly artifacts: readonly string[]
  readonly traces: readonly string[]
  readonly temporary: readonly string[]
}

export const orphanedFiles: Task = {
  name: 'orphaned_files',
  schedule: '3 4 * * *',
  about: 'removes repositories, traces and artifacts that no record speaks of, and what killed processes left',
  run: context => removeOrphans(context)
}

/**
 * What no row speaks of, of builds in at most `folders` folders. Throws Misconfigured where the database looks like that
 * of another home, for which all here would be orphans.
 */
export async function findOrphans(now = new Date(), folders?: number): Promise<Found> {
  const before = now.getTime() - AGE_MS
  const repositories = await orphanedRepositories(before)
  const artifacts = await orphanedBuildFiles('artifacts', before, folders)
  const traces = await orphanedBuildFiles('traces', before, folders)
  // A new home without users has nothing yet, and is no fault.
  if ([repositories, artifacts, traces].some(({ paths }) => paths.length > 0)) await requireOwnDatabase()
  for (const [what, { paths, looked }] of Object.entries({ repositories, artifacts, traces })) {
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
    temporary: await leftovers(before)
  }
}

/** What the database has encrypted can be read with the secrets of its own home alone. */
async function requireOwnDatabase(): Promise<void> {
  const token = await row<{ encrypted: Buffer }>(
    'select encrypted from access_tokens where encrypted is not null order by id desc limit 1'
  )
  const why = 'no file is taken for an orphan'
  if (!token) throw new Misconfigured(`the database has no users: ${why}`)
  // Reading them would make new ones, which fit no database.
  if (!existsSync(join(config().home, 'secrets.json'))) throw new Misconfigured(`the home has no secrets: ${why}`)
  try {
    decrypt(token.encrypted)
  } catch {
    throw new Misconfigured(`the database belongs to another home, as its secrets are others: ${why}`)
  }
}

/** Removes them, or only tells them; gives how many there are of each kind. */
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
  // By rm: a build's folder may be closed to its own owner.
  await each([...found.drafts, ...found.temporary], removeFolder)
  await each([...found.artifacts, ...found.traces], path => rm(path, { force: true }))
  return Object.fromEntries(Object.entries(found).map(([name, paths]) => [name, paths.length]))
}
