// Reads the content of files.
import { Readable } from 'node:stream'
import { TooLarge } from '../../errors.js'
import { pacedStream } from '../../lib/paced-stream.js'
import { outputOf, startGit } from '../process/run.js'
import { keep, ownMemory, remember } from './cache.js'
import { LARGE_OBJECT, readObject, readSmall } from './reader.js'

const CACHED_SIZE = 256 * 1024
/** Milliseconds after which a large blob is closed when its reader takes nothing: it occupies a git process. */
const PATIENCE = 60_000

/**
 * Returns the content of a blob, or null when no blob has this id. Callers share the buffer and must not change it.
 * Throws TooLarge when the blob is larger than `maxSize` bytes.
 */
export async function readBlob(repository: string, id: string, maxSize: number): Promise<Buffer | null> {
  const size = await blobSize(repository, id)
  if (size === null) return null
  if (size > maxSize) throw new TooLarge()
  const read = async () => {
    const object = await readObject(repository, id, maxSize)
    return object && { value: ownMemory(object.content), size: object.content.length }
  }
  if (size <= CACHED_SIZE) return await remember(repository, `blob ${id}`, read)
  return (await read())?.value ?? null
}

/**
 * Returns the size of a blob in bytes, or null when no blob has this id. The content of a small blob is read and cached
 * too, because most callers read it next.
 */
export function blobSize(repository: string, id: string): Promise<number | null> {
  return remember(repository, `size ${id}`, async () => {
    const found = await readSmall(repository, id)
    if (found?.type !== 'blob') return null
    const { content, size } = found
    if (content && size <= CACHED_SIZE) keep(repository, `blob ${id}`, { value: ownMemory(content), size })
    return { value: size, size: 8 }
  })
}

/**
 * Returns a blob of any size as a stream, or null when no blob has this id. A large blob comes from its own process, which ends
 * when the stream is destroyed or its reader stalls. The caller must always read the stream to its end or destroy it.
 */
export async function openBlob(repository: string, id: string): Promise<{ size: number; stream: Readable } | null> {
  const size = await blobSize(repository, id)
  if (size === null) return null
  if (size <= LARGE_OBJECT) {
    const content = await readBlob(repository, id, LARGE_OBJECT)
    return content && { size, stream: Readable.from([content], { objectMode: false }) }
  }
  const args = ['cat-file', 'blob', id]
  const git = await startGit(args, { repository, long: true })
  git.stdin.end()
  return { size, stream: pacedStream(outputOf(args, git), PATIENCE) }
}
