// Streams that end when their reader stalls. Otherwise they would hold their resources, such as memory or a process, for hours.
import { Readable } from 'node:stream'

/** Returns a stream of the chunks. It fails when its reader takes nothing for `patience` milliseconds. */
export function pacedStream(chunks: Iterable<Buffer> | AsyncIterable<Buffer>, patience: number): Readable {
  async function* paced() {
    for await (const chunk of chunks) {
      const timer = setTimeout(() => stream.destroy(new Error('the client stalls')), patience)
      try {
        yield chunk
      } finally {
        clearTimeout(timer)
      }
    }
  }
  const stream = Readable.from(paced(), { objectMode: false, highWaterMark: 65_536 })
  // A stream that is destroyed before anybody reads it never reaches the end of `paced`.
  if (chunks instanceof Readable) stream.once('close', () => chunks.destroy())
  return stream
}
