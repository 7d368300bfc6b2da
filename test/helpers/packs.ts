// Writes packs by hand, with objects and deltas that no ordinary client makes.
import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'

export const BLOB = 3
const REF_DELTA = 7

export interface PackEntry {
  readonly type: number
  readonly content: Buffer
  /** The id of the object that a delta refers to. */
  readonly base?: string
}

/** The id of an object with this content. */
export const idOf = (type: string, content: Buffer): string =>
  createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex')

/** A pack of these entries. `count` is the number in its header, if it is not the true one. */
export function packOf(entries: readonly PackEntry[], count = entries.length): Buffer {
  const header = Buffer.alloc(12)
  header.write('PACK')
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(count, 8)
  const body = Buffer.concat([header, ...entries.flatMap(partsOf)])
  return Buffer.concat([body, createHash('sha1').update(body).digest()])
}

function partsOf({ type, content, base }: PackEntry): Buffer[] {
  const bytes: number[] = []
  let rest = Math.floor(content.length / 16)
  bytes.push((type << 4) | (content.length % 16) | (rest > 0 ? 128 : 0))
  while (rest > 0) {
    bytes.push((rest % 128) | (rest >= 128 ? 128 : 0))
    rest = Math.floor(rest / 128)
  }
  const id = base === undefined ? [] : [Buffer.from(base, 'hex')]
  return [Buffer.from(bytes), ...id, deflateSync(content, { level: 9 })]
}

/** A delta whose result is the first `size` bytes of its base, repeated `times` times. */
export function repeatingDelta(base: { id: string; size: number }, size: number, times: number): PackEntry {
  const copy = Buffer.from([0x80 | 0x10 | 0x20 | 0x40, size & 255, (size >> 8) & 255, (size >> 16) & 255])
  const content = Buffer.concat([varint(base.size), varint(size * times), ...Array<Buffer>(times).fill(copy)])
  return { type: REF_DELTA, content, base: base.id }
}

function varint(number: number): Buffer {
  const bytes: number[] = []
  let rest = number
  do {
    bytes.push((rest % 128) | (rest >= 128 ? 128 : 0))
    rest = Math.floor(rest / 128)
  } while (rest > 0)
  return Buffer.from(bytes)
}
