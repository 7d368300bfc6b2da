// Combines several streams into one: each frame has a letter, four bytes of length, and its content.

export interface Frame {
  readonly kind: string
  readonly content: Buffer
}

const HEAD = 5

export function frame(kind: string, content: Buffer | string): Buffer {
  const body = Buffer.from(content as string)
  const head = Buffer.alloc(HEAD)
  head.write(kind.slice(0, 1), 'latin1')
  head.writeUInt32BE(body.length, 1)
  return Buffer.concat([head, body])
}

/** Splits a stream into its frames. Throws RangeError for a frame with more bytes than `most`. */
export async function* framesOf(input: AsyncIterable<Buffer>, most: number): AsyncGenerator<Frame> {
  let left: Buffer = Buffer.alloc(0)
  for await (const chunk of input) {
    left = left.length === 0 ? chunk : Buffer.concat([left, chunk])
    for (;;) {
      if (left.length < HEAD) break
      const length = left.readUInt32BE(1)
      if (length > most) throw new RangeError('a frame is too long')
      if (left.length < HEAD + length) break
      yield { kind: left.toString('latin1', 0, 1), content: left.subarray(HEAD, HEAD + length) }
      left = left.subarray(HEAD + length)
    }
  }
}
