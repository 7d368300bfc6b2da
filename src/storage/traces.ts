// Traces of builds: appended to while they are read. Paths stay in here, so that another store can take this one's place.
import { type FileHandle, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { type BuildKey, isMissing, makeFolderOf, pathOf, removeFile, syncFolder } from './files.js'

export type { BuildKey } from './files.js'

/** A chunk that does not begin where the trace ends; `size` says where that is. */
export class TraceMismatch extends Error {
  constructor(readonly size: number) {
    super(`the trace has ${size} bytes`)
  }
}

const longestRead = 4_194_304
const busy = new Map<string, Promise<unknown>>()

/**
 * Appends and gives the new size in bytes; the bytes are on the disk by then. With `offset`, which is where the sender
 * thinks that the trace ends, throws TraceMismatch when it does not. One process writes in the order of the calls; two
 * that send the same chunk to the same offset, as a retried request does, write the same bytes to the same place.
 */
export function appendTrace(key: BuildKey, chunk: Uint8Array, offset?: number): Promise<number> {
  const path = pathOf('traces', key, 'log')
  return inOrder(path, async () => {
    const handle = await openForWriting(path)
    try {
      const { size } = await handle.stat()
      if (offset !== undefined && offset !== size) throw new TraceMismatch(size)
      await writeAll(handle, chunk, size)
      if (chunk.length > 0) await handle.datasync()
      return size + chunk.length
    } finally {
      await handle.close()
    }
  })
}

/** Empties the trace, for a build that starts again under the same key. */
export function resetTrace(key: BuildKey): Promise<void> {
  const path = pathOf('traces', key, 'log')
  return inOrder(path, async () => {
    const handle = await openForWriting(path)
    try {
      await handle.truncate(0)
      await handle.datasync()
    } finally {
      await handle.close()
    }
  })
}

/** Bytes of the trace; 0 when there is none. */
export async function traceSize(key: BuildKey): Promise<number> {
  try {
    return (await stat(pathOf('traces', key, 'log'))).size
  } catch (error) {
    if (isMissing(error)) return 0
    throw error
  }
}

/** At most `length` bytes (and never more than 4 MiB) from `start`; less at the end, none beyond it or without a trace. */
export async function readTrace(key: BuildKey, start = 0, length = longestRead): Promise<Buffer> {
  const handle = await openForReading(key)
  if (!handle) return Buffer.alloc(0)
  try {
    const { size } = await handle.stat()
    const bytes = Buffer.alloc(Math.max(0, Math.min(length, longestRead, size - start)))
    let read = 0
    while (read < bytes.length) {
      const { bytesRead } = await handle.read(bytes, read, bytes.length - read, start + read)
      if (bytesRead === 0) break
      read += bytesRead
    }
    return bytes.subarray(0, read)
  } finally {
    await handle.close()
  }
}

/** The whole trace as it is now, or undefined when there is none. The stream ends at `size`, even if the trace grows. */
export async function openTrace(key: BuildKey): Promise<{ size: number; stream: Readable } | undefined> {
  const handle = await openForReading(key)
  if (!handle) return undefined
  const { size } = await handle.stat()
  return { size, stream: streamOf(handle, size) }
}

/** Removes the trace, if there is one. */
export function removeTrace(key: BuildKey): Promise<void> {
  const path = pathOf('traces', key, 'log')
  return inOrder(path, () => removeFile(path))
}

function streamOf(handle: FileHandle, size: number): Readable {
  // A range of no bytes cannot be told to a stream: an empty trace is read to its end.
  return size === 0 ? handle.createReadStream() : handle.createReadStream({ start: 0, end: size - 1 })
}

async function openForReading(key: BuildKey): Promise<FileHandle | undefined> {
  try {
    return await open(pathOf('traces', key, 'log'), 'r')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

async function openForWriting(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+')
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  await makeFolderOf(path)
  // Not exclusive: another process may have made it meanwhile.
  await (await open(path, 'a', 0o600)).close()
  await syncFolder(dirname(path))
  return open(path, 'r+')
}

async function writeAll(handle: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    done += (await handle.write(chunk, done, chunk.length - done, position + done)).bytesWritten
  }
}

async function inOrder<T>(path: string, work: () => Promise<T>): Promise<T> {
  const mine = (busy.get(path) ?? Promise.resolve()).then(work, work)
  const settled = mine.catch(() => undefined)
  busy.set(path, settled)
  try {
    return await mine
  } finally {
    if (busy.get(path) === settled) busy.delete(path)
  }
}
