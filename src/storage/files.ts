// The paths of the files of builds, and the functions that sync folders to the disk, so that a power cut cannot undo what
// was acknowledged.
import { closeSync, fstatSync } from 'node:fs'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { type Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { config } from '../config.js'
import { TooLarge } from '../errors.js'
import type { ByteRange, ChooseRange } from '../lib/byte-range.js'
import { FileStream, openNumber } from './file-stream.js'
import { hashingOf } from './hashing.js'

/** One run of a build. A later claim has a higher attempt and its own files, so a stale runner cannot reach them. */
export interface BuildKey {
  readonly build: number
  readonly attempt: number
}

/** Returns the path of a file of a build. A thousand builds share a folder. Throws RangeError for a wrong number. */
export function pathOf(kind: 'traces' | 'artifacts', { build, attempt }: BuildKey, ending: string): string {
  for (const number of [build, attempt]) {
    if (!Number.isSafeInteger(number) || number < 0)
      throw new RangeError(`not a number of a build or attempt: ${number}`)
  }
  return join(config().home, kind, String(Math.floor(build / 1000)), `${build}-${attempt}.${ending}`)
}

const ENDINGS = { artifacts: 'zip', traces: 'log' } as const

/** Returns the name of a file of a build in a bucket: the same as on the disk, below the home. */
export const objectOf = (kind: 'traces' | 'artifacts', key: BuildKey): string =>
  relative(config().home, pathOf(kind, key, ENDINGS[kind]))

/** Creates the folder of a file, and writes the new folder's name to the disk. */
export async function makeFolderOf(path: string): Promise<void> {
  const made = await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  if (made !== undefined) await syncFolder(dirname(made))
}

/** Writes the names in a folder to the disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Removes a file. A missing file is not an error. */
export const removeFile = (path: string): Promise<void> => rm(path, { force: true })

/** Returns true when an error means that the file does not exist. */
export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'

/** Bytes that wait at most for the disk while it writes. Together they are one call. */
const WRITTEN = 1_048_576
/** After so many bytes, a new file goes to the disk while others arrive, so that its end need not wait for all of them. */
const SYNCED = 33_554_432

export interface OpenFile {
  /** Bytes of the whole file, as it is now. */
  readonly size: number
  /** The part that the stream has; undefined for the whole file. */
  readonly range?: ByteRange
  readonly stream: Readable
}

/**
 * Opens a file, or the part of it that `choose` selects. The stream ends at the size that the file has now, even if it
 * grows. Returns undefined when there is no file.
 */
export async function openPart(path: string, choose?: ChooseRange): Promise<OpenFile | undefined> {
  let file: number
  try {
    file = await openNumber(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  try {
    // This does not wait for the disk, because the file is open.
    const { size } = fstatSync(file)
    const range = choose?.(size)
    return { size, ...(range && { range }), stream: new FileStream(file, range ?? { start: 0, end: size - 1 }, size) }
  } catch (error) {
    closeSync(file)
    throw error
  }
}

export interface CopiedStream {
  readonly size: number
  readonly sha256: string
}

/** Writes a stream into a file. Throws `excess` when it has more than `limit` bytes. */
export async function copyStream(
  source: Readable,
  handle: FileHandle,
  limit: number,
  excess = new TooLarge()
): Promise<CopiedStream> {
  const hashing = hashingOf(source)
  let [size, synced] = [0, 0]
  let syncing: Promise<void> | undefined
  const write = async (chunks: readonly Buffer[]) => {
    const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
    size += length
    if (size > limit) throw excess
    await hashing.take(chunks, writeAll(handle, chunks, length))
    if (size - synced < SYNCED) return
    await syncing
    synced = size
    syncing = handle.datasync()
    // The next wait throws it.
    syncing.catch(() => {})
  }
  const sink = new Writable({
    highWaterMark: WRITTEN,
    write: (chunk, _, done) => void write([chunk]).then(() => done(), done),
    writev: (parts, done) => void write(parts.map(({ chunk }) => chunk)).then(() => done(), done)
  })
  try {
    await pipeline(source, sink).finally(() => syncing)
    return { size, sha256: await hashing.digest() }
  } finally {
    hashing.end()
  }
}

/** Writes where the last call ended. */
async function writeAll(handle: FileHandle, chunks: readonly Buffer[], length: number): Promise<void> {
  const { bytesWritten } = await handle.writev([...chunks])
  // writeFile writes everything, or fails.
  if (bytesWritten < length) await handle.writeFile(Buffer.concat(chunks).subarray(bytesWritten))
}
