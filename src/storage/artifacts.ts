// Stores the archives of builds. An archive is either complete or absent. Paths do not leave this file, so that another
// store can replace it.
import { config } from '../config.js'
import type { ChooseRange } from '../lib/byte-range.js'
import { type BuildKey, type CopiedStream, type OpenFile, objectOf, openPart, pathOf, removeFile } from './files.js'
import { putFile, putInBucket, type Source } from './put-file.js'
import { hasBucket, openObject, removeObject } from './s3.js'

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
  source: Source,
  limit = hasBucket() ? Math.min(config().artifacts.max_size, LARGEST_OBJECT) : config().artifacts.max_size
): Promise<StoredArtifact> {
  if (!hasBucket()) return putFile(pathOf('artifacts', key, 'zip'), source, { folder: 'artifacts', limit })
  return putInBucket(objectOf('artifacts', key), source, { limit })
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
