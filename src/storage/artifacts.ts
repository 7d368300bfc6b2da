// Stores the archives of builds. An archive is either complete or absent. Paths do not leave this file, so that another
// store can replace it.
import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { config } from '../config.js'
import type { ChooseRange } from '../lib/byte-range.js'
import {
  type BuildKey,
  type CopiedStream,
  copyStream,
  makeFolderOf,
  type OpenFile,
  objectOf,
  openPart,
  pathOf,
  removeFile,
  syncFolder
} from './files.js'
import { hasBucket, openObject, putObject, removeObject } from './s3.js'

export type StoredArtifact = CopiedStream

/** Bytes. An object that is uploaded in one request cannot be larger. */
const LARGEST_OBJECT = 5 * 1024 ** 3

/**
 * Stores an archive and replaces an existing one; the archive is on the disk, or in the bucket, when the promise resolves.
 * `source` is a stream, or the path of a file, which is kept. Throws TooLarge when the archive has more than `limit` bytes
 * (artifacts.max_size), and then keeps the existing one. Throws Unavailable when the bucket is unavailable.
 */
export async function putArtifact(
  key: BuildKey,
  source: Readable | string,
  limit = hasBucket() ? Math.min(config().artifacts.max_size, LARGEST_OBJECT) : config().artifacts.max_size
): Promise<StoredArtifact> {
  const path = pathOf('artifacts', key, 'zip')
  const draft = join(config().home, 'tmp', `artifact-${randomUUID()}`)
  await makeFolderOf(draft)
  const handle = await open(draft, 'wx', 0o600)
  try {
    const stored = await copyStream(typeof source === 'string' ? createReadStream(source) : source, handle, limit)
    if (hasBucket()) {
      // The bucket gets an archive that is complete and within the limit.
      await putObject(objectOf('artifacts', key), draft, stored.size)
      await removeFile(draft)
      return stored
    }
    await handle.sync()
    await makeFolderOf(path)
    await rename(draft, path)
    await syncFolder(dirname(path))
    return stored
  } catch (error) {
    await removeFile(draft)
    throw error
  } finally {
    await handle.close()
  }
}

/**
 * Returns the archive, or a part of it, or undefined when there is none. A caller that does not read the stream to its end
 * must destroy it. Throws what `choose` throws.
 */
export async function openArtifact(key: BuildKey, choose?: ChooseRange): Promise<OpenFile | undefined> {
  const kept = hasBucket() ? await openObject(objectOf('artifacts', key), choose) : undefined
  // Archives from before the bucket was configured are on the disk.
  return kept ?? openPart(pathOf('artifacts', key, 'zip'), choose)
}

/** Removes the archive, if there is one. */
export async function removeArtifact(key: BuildKey): Promise<void> {
  if (hasBucket()) await removeObject(objectOf('artifacts', key))
  await removeFile(pathOf('artifacts', key, 'zip'))
}
