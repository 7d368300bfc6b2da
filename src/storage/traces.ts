// Stores the traces of builds, which grow while others read them. They grow on the disk. With a bucket, a task moves the
// traces of ended builds into it (areas/ci/builds/files/bucket-uploads.ts).
import { constants, fstatSync } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { LRUCache } from 'lru-cache'
import type { ChooseRange } from '../lib/byte-range.js'
import { Limiter } from '../lib/limiter.js'
import {
  type BuildKey,
  type CopiedStream,
  isMissing,
  makeFolderOf,
  type OpenFile,
  objectOf,
  openPart,
  pathOf,
  removeFile,
  syncFolder
} from './files.js'
import { putFile } from './put-file.js'
import { hasBucket, headObject, openObject, removeObject } from './s3.js'

export type { BuildKey } from './files.js'

/** The chunk does not begin at the end of the trace; `size` is the end of the trace in bytes. */
export class TraceMismatch extends Error {
  constructor(readonly size: number) {
    super(`the trace has ${size} bytes`)
  }
}

const LONGEST_READ = 4_194_304
const turns = new Limiter({ perClient: 1 })

/**
 * Appends to a trace and returns its new size in bytes; the bytes are on the disk when the promise resolves. `offset`
 * is where the sender expects the end of the trace; throws TraceMismatch when the trace ends elsewhere. One process
 * writes in the order of the calls. Two processes that send the same chunk to the same offset, as a retried request
 * does, write the same bytes to the same place.
 */
export function appendTrace(key: BuildKey, chunk: Uint8Array, offset?: number): Promise<number> {
  const path = pathOf('traces', key, 'log')
  return turns.run({ client: path }, async () => {
    const { handle, size } = await openGrowing(path)
    if (offset !== undefined && offset !== size) throw new TraceMismatch(size)
    await writeAll(handle, chunk, size)
    return size + chunk.length
  })
}

/** Traces that this process keeps open, because the next chunk comes soon. */
const MOST_OPEN = 128
/** Milliseconds after the last chunk. */
const OPEN_FOR = 10_000

const growing = new LRUCache<string, FileHandle>({
  max: MOST_OPEN,
  ttl: OPEN_FOR,
  ttlAutopurge: true,
  updateAgeOnGet: true,
  dispose: (handle, path) => void turns.run({ client: path }, () => handle.close()).catch(() => undefined)
})

async function openGrowing(path: string): Promise<{ handle: FileHandle; size: number }> {
  const known = growing.get(path)
  // This does not wait for the disk, and costs a tenth of a call in a thread. The handle may be closed by now.
  const found = known && known.fd >= 0 ? fstatSync(known.fd) : undefined
  // Another process may have removed the trace, or put another file in its place.
  if (known && found && found.nlink > 0) return { handle: known, size: found.size }
  growing.delete(path)
  // Each write waits until it is on the disk, so no second call is needed.
  const handle = await openForWriting(path, constants.O_DSYNC)
  growing.set(path, handle)
  return { handle, size: (await handle.stat()).size }
}

/** Empties the trace, for a build that starts again under the same key. */
export function resetTrace(key: BuildKey): Promise<void> {
  const path = pathOf('traces', key, 'log')
  return turns.run({ client: path }, async () => {
    const handle = await openForWriting(path)
    try {
      await handle.truncate(0)
      await handle.datasync()
    } finally {
      await handle.close()
    }
  })
}

/** Stores a whole trace from a file, and replaces an existing one. Only for a build that has ended. */
export const putTrace = (key: BuildKey, from: string): Promise<CopiedStream> =>
  putFile(pathOf('traces', key, 'log'), from, { folder: 'traces', limit: Number.POSITIVE_INFINITY })

/** Replaces the whole trace. A reader at this moment may get the beginning of one trace and the rest of the other. */
export function replaceTrace(key: BuildKey, bytes: Uint8Array): Promise<void> {
  const path = pathOf('traces', key, 'log')
  return turns.run({ client: path }, async () => {
    const handle = await openForWriting(path)
    try {
      await writeAll(handle, bytes, 0)
      await handle.truncate(bytes.length)
      await handle.datasync()
    } finally {
      await handle.close()
    }
  })
}

/** Returns the size of the trace in bytes, or 0 when there is none. */
export async function traceSize(key: BuildKey): Promise<number> {
  try {
    return (await stat(pathOf('traces', key, 'log'))).size
  } catch (error) {
    if (!isMissing(error)) throw error
    return hasBucket() ? ((await headObject(objectOf('traces', key)))?.size ?? 0) : 0
  }
}

/**
 * Returns at most `length` bytes (never more than 4 MiB) from `start`. It returns fewer bytes at the end of the trace,
 * and none after the end or without a trace.
 */
export async function readTrace(key: BuildKey, start = 0, length = LONGEST_READ): Promise<Buffer> {
  const handle = await openForReading(key)
  if (!handle) return readKept(key, start, Math.min(length, LONGEST_READ))
  try {
    const { size } = await handle.stat()
    const bytes = Buffer.alloc(Math.max(0, Math.min(length, LONGEST_READ, size - start)))
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

/** Returns the trace as it is now, or a part of it, or undefined when there is none. The stream ends there, even if the trace grows. */
export async function openTrace(key: BuildKey, choose?: ChooseRange): Promise<OpenFile | undefined> {
  const found = await openPart(pathOf('traces', key, 'log'), choose)
  return found ?? (hasBucket() ? openObject(objectOf('traces', key), choose) : undefined)
}

async function readKept(key: BuildKey, start: number, length: number): Promise<Buffer> {
  if (!hasBucket() || length <= 0) return Buffer.alloc(0)
  let beyond = false
  const found = await openObject(objectOf('traces', key), size => {
    beyond = start >= size
    return beyond ? undefined : { start, end: Math.min(start + length, size) - 1 }
  })
  if (!found || beyond) {
    found?.stream.destroy()
    return Buffer.alloc(0)
  }
  return buffer(found.stream)
}

/** Removes the trace, if there is one. */
export function removeTrace(key: BuildKey): Promise<void> {
  const path = pathOf('traces', key, 'log')
  return turns.run({ client: path }, async () => {
    growing.delete(path)
    if (hasBucket()) await removeObject(objectOf('traces', key))
    await removeFile(path)
  })
}

async function openForReading(key: BuildKey): Promise<FileHandle | undefined> {
  try {
    return await open(pathOf('traces', key, 'log'), 'r')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

async function openForWriting(path: string, how = 0): Promise<FileHandle> {
  const flags = constants.O_RDWR | how
  try {
    return await open(path, flags)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  await makeFolderOf(path)
  // This does not open exclusively, because another process may have created the file in the meantime.
  await (await open(path, 'a', 0o600)).close()
  await syncFolder(dirname(path))
  return open(path, flags)
}

async function writeAll(handle: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    done += (await handle.write(chunk, done, chunk.length - done, position + done)).bytesWritten
  }
}
