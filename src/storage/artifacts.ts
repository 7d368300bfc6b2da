// Stores the archives of builds. An archive is either complete or absent.
import { config } from '../config.js'
import type { TooLarge } from '../errors.js'
import type { ChooseRange } from '../lib/byte-range.js'
import { openBlob, putBlob, removeBlob } from './blobs.js'
import { type DirectAnswer, sendFromBucket } from './direct-downloads.js'
import { type BuildKey, type CopiedStream, type OpenFile, objectOf } from './files.js'
import type { Source } from './put-file.js'

/**
 * Stores an archive and replaces an existing one; the archive is on the disk, or in the bucket, when the promise resolves.
 * `source` is a stream, or the path of a file, which is kept. Throws TooLarge when the archive has more than `limit` bytes
 * (artifacts.max_size), or `excess`, and then keeps the existing one. Throws BucketUnavailable.
 */
export const putArtifact = (
  key: BuildKey,
  source: Source,
  limit = config().artifacts.max_size,
  excess?: TooLarge
): Promise<CopiedStream> =>
  putBlob({ kind: 'artifacts', name: objectOf('artifacts', key), source, limit, ...(excess && { excess }) })

/**
 * Returns the archive, or a part of it, or undefined when there is none. A caller that does not read the stream to its end
 * must destroy it. Throws what `choose` throws.
 */
export const openArtifact = (key: BuildKey, choose?: ChooseRange): Promise<OpenFile | undefined> =>
  openBlob(objectOf('artifacts', key), choose)

/** Throws FoundElsewhere, unless the server must send the archive. */
export const sendArtifactFromBucket = (key: BuildKey, answer: DirectAnswer): Promise<void> =>
  sendFromBucket(objectOf('artifacts', key), answer)

/** Removes the archive, if there is one. */
export const removeArtifact = (key: BuildKey): Promise<void> => removeBlob(objectOf('artifacts', key))
