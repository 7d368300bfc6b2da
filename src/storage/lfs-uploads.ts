// Uploads of LFS objects from clients to the bucket, without the server between them (storage.s3.direct_uploads). A client puts the bytes
// under a name that its project shares with no other: what is there proves that somebody who may push to the project has sent the content.
// Only then the server gives the object the name that all projects share.
//
// The signature covers the size and the SHA-256. A bucket that knows the checksums of S3 refuses other content, and says later that it has
// compared it. The server reads and compares what any other bucket has accepted.

import { config } from '../config.js'
import { Unprocessable } from '../errors.js'
import { type LfsKey, nameOfLfsObject, putLfsObject } from './lfs.js'
import { hasBucket, placeOf } from './places.js'
import { copyObject, headObject, listObjects, openObject, removeObject, type StoredObject, signedUrl } from './s3.js'

const FOLDER = 'lfs/.drafts/'
/** Bytes. S3 takes at most 5 GiB with one request. */
const LARGEST = 5_000_000_000

/** The object is in no list of objects: LFS_NAME does not match. */
const draftOf = (projectId: number, oid: string) => `${FOLDER}${projectId}/${oid}`

/** base64, as S3 writes checksums. */
const checksumOf = (oid: string) => Buffer.from(oid, 'hex').toString('base64')

/** What a client of git LFS does to send an object. */
export interface DirectUpload {
  readonly href: string
  readonly header: { readonly [name: string]: string }
  readonly expires_in: number
}

/** Returns how a client sends an object to the bucket; undefined when it must send it to the server. Throws BucketUnavailable. */
export async function directLfsUpload(projectId: number, { oid, size }: LfsKey): Promise<DirectUpload | undefined> {
  const { storage, lfs } = config()
  if (!storage.s3.direct_uploads || !hasBucket() || placeOf('lfs') !== 's3') return undefined
  // Clients send an empty body in several ways.
  if (size === 0 || size > LARGEST) return undefined
  const header = { 'x-amz-checksum-sha256': checksumOf(oid) }
  const seconds = lfs.token_expire
  const href = await signedUrl(draftOf(projectId, oid), {
    ...{ method: 'PUT', seconds },
    headers: { ...header, 'content-length': String(size) }
  })
  return { href, header, expires_in: seconds }
}

export interface LfsUpload {
  /** Stores the object. Calls `before` when the content is right. Throws what it throws, Unprocessable and BucketUnavailable. */
  store(before: () => Promise<unknown>): Promise<void>
  /** Removes the upload. */
  drop(): Promise<void>
}

/** Returns what a client has sent to the bucket for a project; undefined when there is nothing. Throws BucketUnavailable. */
export async function findLfsUpload(projectId: number, key: LfsKey): Promise<LfsUpload | undefined> {
  const { oid, size } = key
  const draft = draftOf(projectId, oid)
  const found = hasBucket() ? await headObject(draft, { withHash: true }) : undefined
  if (!found) return undefined
  return {
    store: async before => {
      if (found.size !== size)
        throw new Unprocessable(`the content of the object ${oid} does not have the size ${size}`)
      if (found.sha256 !== checksumOf(oid)) return putAgain(draft, key, before)
      await before()
      await copyObject(draft, nameOfLfsObject(oid), size)
    },
    drop: () => removeObject(draft)
  }
}

/** The bucket has compared nothing. So nobody may change the content between the comparison and the copy: the server has it. */
async function putAgain(draft: string, key: LfsKey, before: () => Promise<unknown>): Promise<void> {
  const sent = await openObject(draft)
  if (!sent) throw new Unprocessable('the upload was replaced or removed: send it again')
  await putLfsObject(key, sent.stream, before)
}

/** Yields uploads that nobody has finished since `before`. */
export async function* lateLfsUploads(before: Date): AsyncGenerator<StoredObject[]> {
  if (!hasBucket()) return
  for await (const page of listObjects(FOLDER)) yield page.filter(({ changed }) => changed < before.getTime())
}

export const removeLfsUpload = ({ name }: StoredObject): Promise<void> => removeObject(name)
