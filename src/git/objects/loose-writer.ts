// Writes loose objects without git, which saves a process for each commit (8 ms with fast-import, 2 ms without). The content of
// every object is on the disk before its name appears, and before the caller gets its id. Folders are not synced, because git
// does not sync them: file systems with a journal keep the order of names, so no ref appears before its objects.
import { hash, randomBytes } from 'node:crypto'
import { fsync } from 'node:fs'
import { mkdir, open as openHandle, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { deflate, deflateSync } from 'node:zlib'
import { batches } from '../../lib/batches.js'
import type { ObjectType } from './reader.js'
import { files } from './sync-files.js'

export interface LooseObject {
  readonly id: string
  readonly type: ObjectType
  readonly content: Buffer
  /** What git hashes and stores: the type, the size and the content. */
  readonly raw: Buffer
}

/** Always waits for the disk. */
const sync = promisify(fsync)
const compressLarge = promisify(deflate)
const AT_ONCE = 8
/**
 * Contents of up to this many bytes are compressed in this thread. Larger ones go to another thread, so that they do
 * not hold up other requests.
 */
const SMALL = 16_384

/** Makes an object in memory and computes its id. */
export function makeObject(type: ObjectType, content: Buffer): LooseObject {
  const raw = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
  return { id: hash('sha1', raw), type, content, raw }
}

/** Writes objects. The list must hold an object before the objects that refer to it. The objects are durable when the promise resolves. */
export async function writeObjects(repository: string, objects: readonly LooseObject[]): Promise<void> {
  const unique = [...new Map(objects.map(object => [object.id, object])).values()]
  const folder = join(repository, 'objects')
  for (const some of batches(unique, AT_ONCE)) await writeSome(folder, some)
}

/** Writes all contents first, then waits for the disk: a file that is created during such a wait would wait as well. */
async function writeSome(folder: string, objects: readonly LooseObject[]): Promise<void> {
  const made: Made[] = []
  try {
    for (const object of objects) await make(folder, object, made)
    // All syncs must finish before a file is closed.
    for (const outcome of await Promise.allSettled(made.map(({ file }) => sync(file)))) {
      if (outcome.status === 'rejected') throw outcome.reason
    }
    for (const { path, temporary } of made) await moveInto(temporary, path)
  } catch (error) {
    for (const { temporary } of made) await unlink(temporary).catch(() => {})
    throw error
  } finally {
    for (const { file } of made) await files().close(file)
  }
}

/** A file with the content of an object that is not durable yet. */
interface Made {
  readonly file: number
  readonly temporary: string
  readonly path: string
}

async function make(folder: string, { id, raw }: LooseObject, made: Made[]): Promise<void> {
  const content = raw.length <= SMALL ? deflateSync(raw, { level: 1 }) : await compressLarge(raw, { level: 1 })
  const temporary = join(folder, `tmp_obj_${randomBytes(8).toString('hex')}`) // git prune removes these files
  const file = await files().open(temporary, 'wx', 0o444)
  // An object that already exists is replaced by itself. It then has a new date, as with git, so that pruning does not delete it
  // before something refers to it. Checking whether it exists would cost one more disk operation for each new object.
  made.push({ file, temporary, path: join(folder, id.slice(0, 2), id.slice(2)) })
  for (let at = 0; at < content.length; ) at += await files(content.length).write(file, content, at)
}

/** Moves a file to its place, and creates the folder when it is missing. */
async function moveInto(temporary: string, path: string): Promise<void> {
  try {
    return await files().rename(temporary, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  await mkdir(dirname(path), { recursive: true })
  await files().rename(temporary, path)
}

/** Makes a file durable, or the names in a folder. */
export async function syncPath(path: string): Promise<void> {
  const handle = await openHandle(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
