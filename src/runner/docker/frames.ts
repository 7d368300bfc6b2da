// Reads the output of a container without a terminal: frames, each after a header of eight bytes, of which the last four are
// its length.
const HEAD = 8

/** Yields the content of the frames. A frame may be of any length: nothing of it is kept. */
export async function* contentOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head: Buffer = Buffer.alloc(0)
  let left = 0
  for await (const chunk of stream) {
    for (let rest = chunk; rest.length > 0; ) {
      if (left > 0) {
        const part = rest.subarray(0, left)
        left -= part.length
        rest = rest.subarray(part.length)
        yield part
        continue
      }
      const missing = HEAD - head.length
      head = Buffer.concat([head, rest.subarray(0, missing)])
      rest = rest.subarray(missing)
      if (head.length < HEAD) continue
      left = head.readUInt32BE(4)
      head = Buffer.alloc(0)
    }
  }
}
