// Writes a stored file: it is complete under its name, or absent.
import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { config } from '../config.js'
import type { TooLarge } from '../errors.js'
import { type CopiedStream, copyStream, makeFolderOf, removeFile, syncFolder } from './files.js'
import { putObject } from './s3.js'

/** The folders of the home in which files appear by a rename. Each may be a mount of its own, which no rename can leave. */
const FOLDERS = ['artifacts', 'traces', 'uploads', 'lfs', 'records', 'cache'] as const
export type DraftFolder = (typeof FOLDERS)[number]

const draftsOf = (folder: DraftFolder) => join(config().home, folder, '.drafts')

/** Returns the folders with unfinished files. They may not exist. */
export const draftFolders = (): string[] => FOLDERS.map(draftsOf)

/** Returns a new path for an unfinished file, from which a rename can move it to any place in `folder`. */
export async function newDraft(folder: DraftFolder): Promise<string> {
  const draft = join(draftsOf(folder), randomUUID())
  await makeFolderOf(draft)
  return draft
}

/** A stream, or the path of a file. */
export type Source = Readable | string

export interface PutOptions {
  readonly folder: DraftFolder
  /** Bytes. */
  readonly limit: number
  /** The error for a longer stream. */
  readonly excess?: TooLarge
  /** Called when everything has arrived, before the file gets its name. When it throws, nothing is stored. */
  readonly check?: (copied: CopiedStream) => unknown
}

/**
 * Writes a file to `path`, replacing a file. It is on the disk when the promise resolves. Throws `excess`, and what `check` throws, and
 * keeps the old file.
 */
export async function putFile(path: string, source: Source, options: PutOptions): Promise<CopiedStream> {
  const draft = await newDraft(options.folder)
  try {
    const copied = await writeDraft(draft, source, options)
    await makeFolderOf(path)
    await rename(draft, path)
    await syncFolder(dirname(path))
    return copied
  } catch (error) {
    await removeFile(draft)
    throw error
  }
}

/**
 * Puts a stream, or a copy of a file, into the bucket, which gets only what is complete and within the limit. The draft is not in
 * the folder that machines share, because that may be slow. Throws `excess`, what `check` throws, and Unavailable when the bucket is
 * unavailable.
 */
export async function putInBucket(
  object: string,
  source: Source,
  limits: Omit<PutOptions, 'folder'>
): Promise<CopiedStream> {
  const draft = join(config().home, 'tmp', `object-${randomUUID()}`)
  await makeFolderOf(draft)
  try {
    const stored = await writeDraft(draft, source, limits)
    await putObject(object, draft, stored.size)
    return stored
  } finally {
    await removeFile(draft)
  }
}

/** Writes a new file, and onto the disk. Throws `excess`, and what `check` throws; the caller removes the file. */
async function writeDraft(
  draft: string,
  source: Source,
  { limit, excess, check }: Omit<PutOptions, 'folder'>
): Promise<CopiedStream> {
  const handle = await open(draft, 'wx', 0o600)
  try {
    const copied = await copyStream(
      typeof source === 'string' ? createReadStream(source) : source,
      handle,
      limit,
      excess
    )
    await handle.sync()
    await check?.(copied)
    return copied
  } finally {
    await handle.close()
  }
}
