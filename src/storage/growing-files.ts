// The files of traces that grow: HOME/traces/THOUSAND/BUILD-ATTEMPT.log. Callers take turns for each file.
import { constants, fstatSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { LRUCache } from 'lru-cache'
import { Limiter } from '../lib/limiter.js'
import { isMissing, makeFolderOf, removeFile, syncFolder } from './files.js'

export const turns = new Limiter({ perClient: 1 })

/** Appends to a file, unless `requireEnd` throws for its size. Returns the new size. The bytes are on the disk when the promise resolves. */
export async function appendToFile(
  path: string,
  chunk: Uint8Array,
  requireEnd: (size: number) => void
): Promise<number> {
  const { handle, size } = await openGrowing(path)
  requireEnd(size)
  await writeAll(handle, chunk, size)
  return size + chunk.length
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

/** Replaces the whole content. A reader at this moment may get the beginning of one trace and the rest of the other. */
export async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
  const handle = await openForWriting(path)
  try {
    await writeAll(handle, bytes, 0)
    await handle.truncate(bytes.length)
    await handle.datasync()
  } finally {
    await handle.close()
  }
}

export async function removeGrowing(path: string): Promise<void> {
  growing.delete(path)
  await removeFile(path)
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
