// The content of files.
import { Readable } from 'node:stream'
import { TooLarge } from '../errors.js'
import { remember } from './cache.js'
import { isObjectId, largeObject, objectInfo, readObject } from './reader.js'
import { outputOf, startGit } from './run.js'

const cachedSize = 256 * 1024

/** The content of a blob, or null. Shared: do not change it. Throws TooLarge above `maxSize` bytes. */
export async function readBlob(repository: string, id: string, maxSize: number): Promise<Buffer | null> {
  const size = await blobSize(repository, id)
  if (size === null) return null
  if (size > maxSize) throw new TooLarge()
  const read = async () => {
    const object = await readObject(repository, id, maxSize)
    return object && { value: ownMemory(object.content), size: object.content.length }
  }
  if (size <= cachedSize) return await remember(repository, `blob ${id}`, read)
  return (await read())?.value ?? null
}

/** The size of a blob in bytes, or null. */
export function blobSize(repository: string, id: string): Promise<number | null> {
  return remember(repository, `size ${id}`, async () => {
    const about = isObjectId(id) ? await objectInfo(repository, id) : null
    return about?.type === 'blob' ? { value: about.size, size: 8 } : null
  })
}

/** Out of the shared slab, which a small buffer would keep alive. */
function ownMemory(content: Buffer): Buffer {
  if (content.length >= Buffer.poolSize >>> 1) return content
  const copy = Buffer.allocUnsafeSlow(content.length)
  content.copy(copy)
  return copy
}

/**
 * A blob of any size as a stream, or null. A large one comes from a process of its own, which ends when the stream is
 * destroyed: always read it to its end or destroy it.
 */
export async function openBlob(repository: string, id: string): Promise<{ size: number; stream: Readable } | null> {
  const size = await blobSize(repository, id)
  if (size === null) return null
  if (size <= largeObject) {
    const content = await readBlob(repository, id, largeObject)
    return content && { size, stream: Readable.from([content], { objectMode: false }) }
  }
  const args = ['cat-file', 'blob', id]
  const git = await startGit(args, { repository, long: true })
  git.stdin.end()
  return { size, stream: outputOf(args, git) }
}
