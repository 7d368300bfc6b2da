// Files that are in a folder of the home, or in the bucket under the same name. New files go to the place of their kind; all other
// functions look in both places, because files of both may exist while a kind moves, or after the configuration has changed.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { config } from '../config.js'
import type { ChooseRange } from '../lib/byte-range.js'
import { type CopiedStream, isMissing, type OpenFile, openPart, removeFile } from './files.js'
import { hasBucket, type Kind, placeOf } from './places.js'
import { type DraftFolder, type PutOptions, putFile, putInBucket } from './put-file.js'
import { headObject, openObject, removeObject } from './s3.js'

export interface PutBlob extends Omit<PutOptions, 'folder'> {
  readonly kind: Kind & DraftFolder
  /** The path below the home, and the name of the object. */
  readonly name: string
  readonly source: Readable | string
}

export const pathOfBlob = (name: string): string => join(config().home, name)

/**
 * Stores a file, replacing one. It is complete when the promise resolves. Throws `excess`, what `check` throws, or BucketUnavailable, and
 * keeps the old file.
 */
export async function putBlob({ kind, name, source, ...limits }: PutBlob): Promise<CopiedStream> {
  if (placeOf(kind) === 'folder') {
    const stored = await putFile(pathOfBlob(name), source, { folder: kind, ...limits })
    // The file hides the object, so a failure does no harm.
    if (hasBucket()) await removeObject(name).catch(() => undefined)
    return stored
  }
  const stored = await putInBucket(name, source, limits)
  // An older file would hide the object.
  await removeFile(pathOfBlob(name))
  return stored
}

/**
 * Opens a file, or a part of it; undefined when there is none. A caller that does not read the stream to its end must destroy it.
 * A file on the disk is found while the bucket is away. Throws BucketUnavailable, and what `choose` throws.
 */
export async function openBlob(name: string, choose?: ChooseRange): Promise<OpenFile | undefined> {
  return (await openPart(pathOfBlob(name), choose)) ?? (hasBucket() ? openObject(name, choose) : undefined)
}

/** Returns the size of a file in bytes; undefined when there is none. */
export async function sizeOfBlob(name: string): Promise<number | undefined> {
  try {
    return (await stat(pathOfBlob(name))).size
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  return hasBucket() ? (await headObject(name))?.size : undefined
}

/** Removes a file, if there is one. */
export async function removeBlob(name: string): Promise<void> {
  if (hasBucket()) await removeObject(name)
  await removeFile(pathOfBlob(name))
}
