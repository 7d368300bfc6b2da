// Lists the files in the storage, for code that compares them with the rows of the database.
import { lstat, opendir, readdir, rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { config } from '../config.js'
import { type BuildKey, isMissing } from './files.js'
import { headObject, listObjects, putObject } from './s3.js'

export interface StoredFile extends BuildKey {
  readonly path: string
}

const NAME = { artifacts: /^(\d{1,10})-(\d{1,5})\.zip$/, traces: /^(\d{1,10})-(\d{1,5})\.log$/ } as const

/** Returns the numbers of the folders of a kind; each folder holds a thousand builds. It does not follow links. */
export async function storedFolders(kind: 'traces' | 'artifacts'): Promise<number[]> {
  const found = await readdir(join(config().home, kind), { withFileTypes: true }).catch(unlessMissing)
  return found.filter(entry => entry.isDirectory() && /^\d{1,10}$/.test(entry.name)).map(({ name }) => Number(name))
}

/** Returns the files of builds in a folder. It ignores files with other names, because no build owns them. */
export async function storedFiles(kind: 'traces' | 'artifacts', folder: number): Promise<StoredFile[]> {
  const path = join(config().home, kind, String(folder))
  const found = await readdir(path, { withFileTypes: true }).catch(unlessMissing)
  return found.flatMap(entry => {
    const [, build, attempt] = (entry.isFile() && NAME[kind].exec(entry.name)) || []
    return build === undefined ? [] : [{ path: join(path, entry.name), build: Number(build), attempt: Number(attempt) }]
  })
}

function unlessMissing(error: unknown): never[] {
  if (isMissing(error)) return []
  throw error
}

/** Returns when a file or folder itself was last changed or moved, in milliseconds, or null when it is gone. */
export async function changedAt(path: string): Promise<number | null> {
  const found = await lstat(path).catch(unlessGone)
  // A copy that keeps the dates of the original still has a new ctime.
  return found && Math.max(found.mtimeMs, found.ctimeMs)
}

/** Returns true when a file or folder, or anything below it, was changed after `moment`. It does not follow links. */
export async function changedSince(path: string, moment: number): Promise<boolean> {
  const changed = await changedAt(path)
  if (changed === null) return false
  if (changed > moment) return true
  const found = await lstat(path).catch(unlessGone)
  if (!found?.isDirectory()) return false
  for await (const entry of await opendir(path)) {
    if (await changedSince(join(path, entry.name), moment)) return true
  }
  return false
}

function unlessGone(error: unknown): null {
  if (isMissing(error)) return null
  throw error
}

/**
 * Moves a file into the bucket. A crash leaves it in both places, and the next call removes it here. With `keeps`, an object that
 * exists stays as it is: the file never changes, and the copy here may be damaged.
 */
export async function moveToBucket(path: string, { keeps = false } = {}): Promise<void> {
  const found = await lstat(path).catch(unlessGone)
  if (!found?.isFile()) return
  const object = relative(config().home, path)
  if (!keeps || !(await headObject(object))) await putObject(object, path, found.size)
  await rm(path, { force: true })
}

export interface KeptObject extends BuildKey {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly changed: number
}

/** Yields the objects of builds in the bucket, a thousand at a time. It ignores other names, because no build owns them. */
export async function* keptObjects(kind: 'traces' | 'artifacts'): AsyncGenerator<KeptObject[]> {
  for await (const page of listObjects(`${kind}/`)) {
    yield page.flatMap(({ name, changed }) => {
      const [, build, attempt] = NAME[kind].exec(name.replace(/^.*\//, '')) ?? []
      return build === undefined ? [] : [{ name, changed, build: Number(build), attempt: Number(attempt) }]
    })
  }
}
