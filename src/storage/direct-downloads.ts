// Lets clients download files from the bucket without the server between them (storage.s3.direct_downloads).
import { stat } from 'node:fs/promises'
import { config } from '../config.js'
import { FoundElsewhere } from '../errors.js'
import { pathOfBlob } from './blobs.js'
import { hasBucket } from './places.js'
import { headObject, signedUrl } from './s3.js'
import type { SignedRequest } from './signed-urls.js'

/** Headers of the answer: never a type that a browser would execute. */
export type DirectAnswer = NonNullable<SignedRequest['answer']>

/**
 * Throws FoundElsewhere with a URL of the bucket. Does nothing when the server must send the file: it is not in the bucket, or direct
 * downloads are off. `neverChanges`: a copy on the disk is the same file, and does not matter.
 */
export async function sendFromBucket(name: string, answer: DirectAnswer, { neverChanges = false } = {}): Promise<void> {
  if (!config().storage.s3.direct_downloads || !hasBucket()) return
  // A file on the disk comes first, as in all other requests.
  if (!neverChanges && (await stat(pathOfBlob(name)).catch(() => undefined))) return
  if (await headObject(name)) {
    const seconds = config().storage.s3.direct_seconds
    throw new FoundElsewhere(await signedUrl(name, { method: 'GET', answer, seconds }))
  }
}

/** A request for a part needs our own answer, and so does HEAD: a signed URL works for one method. */
export const mayBeDirect = ({ method, headers }: { method: string; headers: { range?: string } }): boolean =>
  method === 'GET' && headers.range === undefined
