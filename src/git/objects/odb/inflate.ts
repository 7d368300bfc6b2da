// Inflates data that git has stored.
import { constants, createInflate, type Inflate, inflate } from 'node:zlib'
import { Damaged } from './leave-to-git.js'

/** Contents of up to this many bytes are inflated at once. Larger ones go to another thread, so that they do not hold up other requests. */
export const AT_ONCE = 65_536

/**
 * One stream for all contents. `inflateSync` makes a new one for each call: with its collection, that took as long as all other
 * work of reading an old file, which is stored as up to 50 deltas. The public interface of node:zlib cannot reuse a stream
 * for synchronous calls, so this uses its handle. The test notices when a version of Node.js changes it.
 */
let stream: Inflate | undefined

interface Internals {
  readonly _handle: {
    reset(): void
    writeSync(flush: number, from: Buffer, start: number, length: number, into: Buffer, at: number, room: number): void
  }
  /** The bytes that are left in the output, and in the input. */
  readonly _writeState: Uint32Array
}

const room = Buffer.allocUnsafeSlow(AT_ONCE + 1)

/**
 * Returns the content of a stream, which must have `size` bytes, at most AT_ONCE. Bytes after the stream are ignored. The content
 * is overwritten by the next call.
 */
export function inflateNow(compressed: Buffer, size: number): Buffer {
  if (!stream || stream.destroyed) stream = createInflate().on('error', () => {})
  const { _handle: handle, _writeState: left } = stream as unknown as Internals
  handle.reset()
  // With one byte more, zlib sees the end of its stream, and an object that is too large is noticed.
  handle.writeSync(constants.Z_SYNC_FLUSH, compressed, 0, compressed.length, room, 0, size + 1)
  // Invalid data destroys the stream.
  if (stream.destroyed || left[0] !== 1) throw new Damaged('an object is damaged, or has another size')
  return room.subarray(0, size)
}

/** Returns the content of a larger stream, which must have `size` bytes. */
export async function inflateElsewhere(compressed: Buffer, size: number): Promise<Buffer> {
  const options = { chunkSize: size + 1, maxOutputLength: size + 1 }
  const content = await new Promise<Buffer>((resolve, reject) =>
    inflate(compressed, options, (error, result) => (error ? reject(error) : resolve(result)))
  )
  if (content.length !== size) throw new Damaged('an object does not have the size in its header')
  return content
}
