// Inflates data that git has stored.
import { inflate, inflateSync } from 'node:zlib'
import { LeaveToGit } from './leave-to-git.js'

/** Contents of up to this many bytes are inflated at once. Larger ones go to another thread, so that they do not hold up other requests. */
const AT_ONCE = 65_536

/** Returns the content of a stream, which must have `size` bytes. Bytes after the stream are ignored. */
export async function inflated(compressed: Buffer, size: number): Promise<Buffer> {
  // With one byte more, zlib sees the end of its stream, and an object that is too large is noticed.
  const options = { chunkSize: Math.max(size + 1, 64), maxOutputLength: size + 1 }
  const content =
    size <= AT_ONCE
      ? inflateSync(compressed, options)
      : await new Promise<Buffer>((resolve, reject) =>
          inflate(compressed, options, (error, result) => (error ? reject(error) : resolve(result)))
        )
  if (content.length !== size) throw new LeaveToGit('an object does not have the size in its header')
  return content
}
