// Checks a push as it arrives: its number of bytes, and the number of objects that its pack declares.
import { config } from '../../config.js'
import { TooLarge } from '../../errors.js'

/** The header of a pack: `PACK`, its version, and the number of its objects. */
const HEADER = 12

/**
 * Passes on the whole request of a push. `packAt` is the offset of its pack. Throws TooLarge, whose text is for the
 * user, at the end of a request that is too large: a client reads no answer before it has sent everything.
 */
export async function* guardPush(input: AsyncIterable<Buffer>, packAt: number): AsyncGenerator<Buffer> {
  const { max_push_size: mostBytes, max_push_objects: mostObjects } = config().git
  let header: Buffer = Buffer.alloc(0)
  let size = 0
  let refusal: string | undefined
  for await (const chunk of input) {
    const skipped = Math.max(packAt - size, 0)
    size += chunk.length
    if (header.length < HEADER)
      header = Buffer.concat([header, chunk.subarray(skipped, skipped + HEADER - header.length)])
    const objects = header.length === HEADER ? header.readUInt32BE(8) : 0
    if (objects > mostObjects)
      refusal ??= `the push has ${objects} objects, more than ${mostObjects} (git.max_push_objects)`
    if (size - packAt > mostBytes) refusal ??= `the push has more than ${mostBytes} bytes (git.max_push_size)`
    if (refusal === undefined) yield chunk
    // Nobody sends this much by mistake.
    else if (size - packAt > 2 * mostBytes) break
  }
  if (refusal !== undefined) throw new TooLarge(refusal)
}
