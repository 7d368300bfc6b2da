// Keeps files that builds of the built-in runner reuse: HOME/cache/builds/PROJECT/NAME.zip. Any archive may disappear at any
// time, so nothing here waits for the disk: without its cache, a build only takes longer.
import { createHash } from 'node:crypto'
import { copyFile, readdir, rename, rm, stat, statfs, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { config } from '../config.js'
import { TooLarge, Unavailable } from '../errors.js'
import { isMissing, makeFolderOf, type OpenFile, openPart, removeFile } from './files.js'
import { newDraft } from './put-file.js'

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
  const now = new Date()
  // Another process may have removed it in the meantime. An open file can be read to its end all the same.
  if (found) await utimes(path, now, now).catch(() => undefined)
  return found
}

/**
 * Stores an archive by moving it from `archive`, and removes the least recently used caches beyond the limits. Throws
 * TooLarge, or Unavailable when the disk is nearly full.
 */
export async function putCache(key: CacheKey, archive: string): Promise<void> {
  const { size } = await stat(archive)
  if (size > largestCache()) throw new TooLarge(`a cache may have at most ${largestCache()} bytes`)
  const path = pathOf(key)
  await makeFolderOf(path)
  await requireRoom(dirname(path), size)
  await moveFile(archive, path)
  await makeRoom(key.project)
}

/** Removes a cache, if there is one. */
export const removeCache = (key: CacheKey): Promise<void> => removeFile(pathOf(key))

/** Removes all caches of a project. */
export const removeCaches = (project: number): Promise<void> => rm(folderOf(project), { recursive: true, force: true })

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

/** The newest archive always stays: it fits, and counts as larger only to limit the number of files. */
async function removeBeyond(kept: Kept[], limit: number): Promise<void> {
  let bytes = 0
  for (const [index, { path, size }] of kept.sort((a, b) => b.usedAt - a.usedAt).entries()) {
    bytes += Math.max(size, LEAST)
    if (index > 0 && bytes > limit) await removeFile(path)
  }
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
