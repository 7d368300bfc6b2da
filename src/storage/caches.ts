// Keeps files that builds of the built-in runner reuse: HOME/cache/builds/PROJECT/NAME.zip, or an object of this name in the bucket. Any archive may disappear at any
// time, so nothing here waits for the disk: without its cache, a build only takes longer.
import { createHash } from 'node:crypto'
import { copyFile, readdir, rename, rm, stat, statfs, utimes } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { config } from '../config.js'
import { TooLarge, Unavailable } from '../errors.js'
import { isMissing, makeFolderOf, type OpenFile, openPart, removeFile } from './files.js'
import { hasBucket, placeOf } from './places.js'
import { newDraft } from './put-file.js'
import { listObjects, openObject, putObject, removeObject, type StoredObject } from './s3.js'

export interface CacheKey {
  readonly project: number
  /** Caches of protected branches are separate: no other build reads or replaces them. */
  readonly ending: 'protected' | 'non_protected'
  /** Any text: it is not part of a path. */
  readonly key: string
}

/** An archive counts as at least this many bytes, so that each write has to look through few files. */
const LEAST = 1_048_576
/** The disk keeps this many bytes free, or a fiftieth of it if that is less. */
const MOST_RESERVE = 536_870_912

const rootFolder = () => join(config().home, 'cache', 'builds')
const folderOf = (project: number) => join(rootFolder(), String(Math.trunc(project)))

function pathOf({ project, ending, key }: CacheKey): string {
  const name = createHash('sha256').update(`${ending}\n${key}`).digest('hex')
  return join(folderOf(project), `${name}.zip`)
}

/** The most bytes that one cache may have. */
export const largestCache = (): number => Math.min(config().runner.cache_limit, config().runner.cache_project_limit)

/** Opens a cache and marks it as used now. Returns undefined when there is none. */
export async function openCache(key: CacheKey): Promise<OpenFile | undefined> {
  const path = pathOf(key)
  const found = await openPart(path)
  if (!found && placeOf('caches') === 's3') return openObject(objectOf(path))
  const now = new Date()
  // Another process may have removed it in the meantime. An open file can be read to its end all the same.
  if (found) await utimes(path, now, now).catch(() => undefined)
  return found
}

/**
 * Stores an archive by moving it from `archive`, and removes the least recently used caches beyond the limits; of those in the bucket,
 * the oldest. Throws TooLarge, or Unavailable when the disk is nearly full or the bucket is away.
 */
export async function putCache(key: CacheKey, archive: string): Promise<void> {
  const { size } = await stat(archive)
  if (size > largestCache()) throw new TooLarge(`a cache may have at most ${largestCache()} bytes`)
  const path = pathOf(key)
  if (placeOf('caches') === 's3') return putInBucket(key, archive, size)
  await makeFolderOf(path)
  await requireRoom(dirname(path), size)
  await moveFile(archive, path)
  await makeRoom(key.project)
}

async function putInBucket(key: CacheKey, archive: string, size: number): Promise<void> {
  const path = pathOf(key)
  await putObject(objectOf(path), archive, size)
  // An older file would hide the object.
  await removeFile(path)
  await removeFile(archive)
  await trimBucketCaches(config().runner.cache_project_limit, folderOf(key.project))
}

const objectOf = (path: string) => relative(config().home, path)

/** Removes the oldest caches in the bucket until the others fit into `limit` bytes. Returns their number. */
async function trimBucketCaches(limit: number, folder = rootFolder()): Promise<number> {
  const found: StoredObject[] = []
  for await (const page of listObjects(`${objectOf(folder)}/`)) found.push(...page)
  const surplus = beyond(found, limit, ({ changed }) => changed)
  for (const { name } of surplus) await removeObject(name)
  return surplus.length
}

/** Removes a cache, if there is one. */
export async function removeCache(key: CacheKey): Promise<void> {
  const path = pathOf(key)
  if (hasBucket()) await removeObject(objectOf(path))
  await removeFile(path)
}

/** Removes all caches of a project. */
export async function removeCaches(project: number): Promise<void> {
  await rm(folderOf(project), { recursive: true, force: true })
  if (hasBucket()) await trimBucketCaches(-1, folderOf(project))
}

async function requireRoom(folder: string, size: number): Promise<void> {
  const { bavail, blocks, bsize } = await statfs(folder)
  const reserve = Math.min(MOST_RESERVE, (blocks * bsize) / 50)
  if (bavail * bsize < size + reserve) throw new Unavailable('the disk of the caches is nearly full')
}

/** The folder of a build may be on another disk. In both cases, the complete file appears under its name at once. */
async function moveFile(from: string, to: string): Promise<void> {
  try {
    return await rename(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
  }
  const draft = await newDraft('cache')
  try {
    await copyFile(from, draft)
    await rename(draft, to)
    await removeFile(from)
  } catch (error) {
    await removeFile(draft)
    throw error
  }
}

interface Kept {
  readonly path: string
  readonly size: number
  readonly usedAt: number
}

/** The project that writes loses its caches first: one project fills no more than its part. */
async function makeRoom(project: number): Promise<void> {
  const { cache_limit, cache_project_limit } = config().runner
  await removeBeyond(await keptIn(folderOf(project)), cache_project_limit)
  const all: Kept[] = []
  for (const name of await namesIn(rootFolder())) all.push(...(await keptIn(join(rootFolder(), name))))
  await removeBeyond(all, cache_limit)
}

async function removeBeyond(kept: readonly Kept[], limit: number): Promise<void> {
  for (const { path } of beyond(kept, limit, ({ usedAt }) => usedAt)) await removeFile(path)
}

/**
 * Returns the archives that do not fit, of which the newest is the first to fit. The newest of all always stays: it fits, and counts as
 * larger only to limit the number of files. A negative limit keeps none.
 */
function beyond<Archive extends { readonly size: number }>(
  all: readonly Archive[],
  limit: number,
  timeOf: (archive: Archive) => number
): Archive[] {
  let bytes = 0
  return [...all]
    .sort((a, b) => timeOf(b) - timeOf(a))
    .filter(({ size }, index) => {
      bytes += Math.max(size, LEAST)
      return (index > 0 || limit < 0) && bytes > limit
    })
}

async function keptIn(folder: string): Promise<Kept[]> {
  const kept: Kept[] = []
  for (const name of await namesIn(folder)) {
    const path = join(folder, name)
    const found = await stat(path).catch(unlessMissing)
    if (found?.isFile()) kept.push({ path, size: found.size, usedAt: found.mtimeMs })
  }
  return kept
}

const namesIn = async (folder: string): Promise<string[]> => (await readdir(folder).catch(unlessMissing)) ?? []

function unlessMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}
