// Removes unused files from HOME/cache, and files of this folder that are in the bucket. All of them can be created again.
import { readdir, rm, rmdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { config } from '../../../config.js'
import { archiveFolder, keptArchives } from '../../../git/repository/archive-cache.js'
import type { Task, TaskContext } from '../../../queue/task.js'
import { hasBucket } from '../../../storage/places.js'
import { listObjects, removeObject, type StoredObject } from '../../../storage/s3.js'
import { contributorsFolder } from '../history/contributors.js'

const DAY_MS = 86_400_000
const KEPT_MS = 7 * DAY_MS

export const oldArchives: Task = {
  name: 'old_archives',
  schedule: '43 3 * * *',
  about:
    'removes archives of commits and counts of contributors that nobody has used for 7 days, the remains of unfinished ones, and surplus caches in the bucket',
  run: context => removeOld(context)
}

/** Removes old files; a dry run only lists them. Returns their total size in bytes. */
export async function removeOld({ dryRun, signal, count, note }: TaskContext, now = Date.now()) {
  let bytes = 0
  for (const { path, size, used } of [...(await keptArchives()), ...(await keptCounts())]) {
    signal.throwIfAborted()
    // No archive takes a day to create: git.timeout ends it.
    if (used > now - (path.endsWith('.new') ? DAY_MS : KEPT_MS)) continue
    if (!dryRun) await rm(path, { force: true })
    bytes += size
    count()
    note(relative(config().home, path))
  }
  if (!dryRun) await removeEmptyFolders()
  for (const { name, size } of await surplusObjects(now)) {
    signal.throwIfAborted()
    if (!dryRun) await removeObject(name)
    bytes += size
    count()
    note(`${name} of the bucket`)
  }
  return { bytes }
}

/** The bucket does not say when an object was used, so the oldest ones go. */
async function surplusObjects(now: number): Promise<StoredObject[]> {
  if (!hasBucket()) return []
  const archives = await oldestFirst('cache/archives/')
  const old = archives.filter(({ changed }) => changed < now - KEPT_MS)
  const rest = archives.slice(old.length)
  return [
    ...old,
    ...surplusOf(rest, config().git.archive_cache),
    ...surplusOf(await oldestFirst('cache/builds/'), config().runner.cache_limit)
  ]
}

async function oldestFirst(start: string): Promise<StoredObject[]> {
  const found: StoredObject[] = []
  for await (const page of listObjects(start)) found.push(...page)
  return found.sort((a, b) => a.changed - b.changed)
}

/** Returns the first objects without which the others fit. */
function surplusOf(objects: readonly StoredObject[], limit: number): StoredObject[] {
  let left = objects.reduce((sum, { size }) => sum + size, 0)
  return objects.filter(({ size }) => {
    const isSurplus = left > limit
    left -= size
    return isSurplus
  })
}

async function keptCounts() {
  const names = await readdir(contributorsFolder()).catch((): string[] => [])
  const found = await Promise.all(
    names.map(async name => {
      const path = join(contributorsFolder(), name)
      const about = await stat(path).catch(() => null)
      return about?.isFile() ? [{ path, size: about.size, used: about.mtimeMs }] : []
    })
  )
  return found.flat()
}

/** A folder in use is not empty, so it stays. */
async function removeEmptyFolders(): Promise<void> {
  for (const name of await readdir(archiveFolder()).catch((): string[] => [])) {
    await rmdir(join(archiveFolder(), name)).catch(() => {})
  }
}
