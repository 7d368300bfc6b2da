// Inflates what git has stored.
import { inflate, inflateSync } from 'node:zlib'
import { LeaveToGit } from './leave-to-git.js'

/** Bytes that are inflated at once; more go to another thread, so that they do not hold up other requests. */
const AT_ONCE = 65_536

/** Returns the first `size` bytes that a stream gives, which must be all. What follows the stream is ignored. */
export async function inflated(compressed: Buffer, size: number): Promise<Buffer> {
  // One byte more: zlib sees the end of its stream, and a larger object shows.
  const options = { chunkSize: Math.max(size + 1, 64), maxOutputLength: size + 1 }
  const content =
    size <= AT_ONCE
      ? inflateSync(compressed, options)
      : await new Promise<Buffer>((resolve, reject) =>
          inflate(compressed, options, (error, result) => (error ? reject(error) : resolve(result)))
        )
  if (content.length !== size) throw new LeaveToGit('an object has another size than it says')
  return content
}
