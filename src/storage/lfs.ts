// Stores the objects of git LFS: HOME/lfs/AA/BB/OID, or an object with the same name in the bucket. The name is the SHA-256 of the
// content, so an object never changes, and all projects share it. It gets its name only when its hash and its size are right.
import { opendir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { config } from '../config.js'
import { TooLarge, Unprocessable } from '../errors.js'
import type { ChooseRange } from '../lib/byte-range.js'
import { openBlob, putBlob, removeBlob, sizeOfBlob } from './blobs.js'
import { type DirectAnswer, sendFromBucket } from './direct-downloads.js'
import { isMissing, type OpenFile } from './files.js'
import type { Source } from './put-file.js'

export interface LfsKey {
  /** The SHA-256 of the content: 64 lower-case hex digits. */
  readonly oid: string
  /** Bytes. */
  readonly size: number
}

const OID = /^[0-9a-f]{64}$/

/** Returns whether a text can be the name of an object. */
export const isOid = (text: string): boolean => OID.test(text)

/** The path of an object below the home, and its name in the bucket. */
export const LFS_NAME = /^lfs\/[0-9a-f]{2}\/[0-9a-f]{2}\/([0-9a-f]{64})$/

/** Throws TypeError for a text that is not the name of an object: it becomes a path. */
export function nameOfLfsObject(oid: string): string {
  if (!isOid(oid)) throw new TypeError(`not the name of an LFS object: ${oid}`)
  return `lfs/${oid.slice(0, 2)}/${oid.slice(2, 4)}/${oid}`
}

/**
 * Stores an object. It is complete, and on the disk or in the bucket, when the promise resolves. `before` is called when all bytes have
 * arrived and are right, and nothing is stored yet. Throws Unprocessable when the content has another hash or size: then nothing is
 * stored. Throws BucketUnavailable.
 */
export async function putLfsObject(
  { oid, size }: LfsKey,
  source: Source,
  before?: () => Promise<unknown>
): Promise<void> {
  const wrongSize = `the content of the object ${oid} does not have the size ${size}`
  await putBlob({
    kind: 'lfs',
    name: nameOfLfsObject(oid),
    source,
    limit: size,
    excess: new TooLarge(wrongSize),
    check: copied => {
      if (copied.size !== size) throw new Unprocessable(wrongSize)
      if (copied.sha256 !== oid) throw new Unprocessable(`the content of the object ${oid} has another SHA-256`)
      return before?.()
    }
  })
}

/** Opens an object, or a part of it; undefined when it is lost. A caller that does not read the stream to its end must destroy it. */
export const openLfsObject = (oid: string, choose?: ChooseRange): Promise<OpenFile | undefined> =>
  openBlob(nameOfLfsObject(oid), choose)

/** Throws FoundElsewhere, unless the server must send the object. */
export const sendLfsFromBucket = (oid: string, answer: DirectAnswer): Promise<void> =>
  sendFromBucket(nameOfLfsObject(oid), answer, { neverChanges: true })

/** Returns the size of a stored object in bytes; undefined when it is lost. */
export const sizeOfLfsObject = (oid: string): Promise<number | undefined> => sizeOfBlob(nameOfLfsObject(oid))

/** Removes an object, if it exists. */
export const removeLfsObject = (oid: string): Promise<void> => removeBlob(nameOfLfsObject(oid))

interface StoredLfsObject {
  /** The path below the home. */
  readonly name: string
  /** Bytes. */
  readonly size: number
}

/** Yields the objects on the disk, one folder at a time. It ignores files with other names. */
export async function* localLfsObjects(): AsyncGenerator<StoredLfsObject[]> {
  const BATCH = 1000
  for (const first of await foldersIn('lfs')) {
    for (const second of await foldersIn(join('lfs', first))) {
      const folder = await opendir(join(config().home, 'lfs', first, second)).catch(unlessMissing)
      if (!folder) continue
      let batch: StoredLfsObject[] = []
      for await (const entry of folder) {
        const name = `lfs/${first}/${second}/${entry.name}`
        if (!entry.isFile() || !LFS_NAME.test(name)) continue
        const found = await stat(join(config().home, name)).catch(unlessMissing)
        if (found) batch.push({ name, size: found.size })
        if (batch.length < BATCH) continue
        yield batch
        batch = []
      }
      yield batch
    }
  }
}

async function foldersIn(folder: string): Promise<string[]> {
  const found = (await readdir(join(config().home, folder)).catch(unlessMissing)) ?? []
  return found.filter(name => /^[0-9a-f]{2}$/.test(name)).sort()
}

function unlessMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}
