// The framing of git's protocol: each line begins with its length in four hex digits; 0000 is a flush.
import { BadRequest } from '../../errors.js'

/** The packet that ends a list of lines. */
export const FLUSH = Buffer.from('0000')
const LINE_LIMIT = 65520

/** The client does not speak git's protocol, or exceeds the limits. */
export class BadProtocol extends BadRequest {}

/** Returns one framed line. Throws RangeError when the content is too long. */
export function pktLine(content: string | Buffer): Buffer {
  const body = Buffer.from(content)
  if (body.length + 4 > LINE_LIMIT) throw new RangeError('too long for one line')
  return Buffer.concat([Buffer.from((body.length + 4).toString(16).padStart(4, '0')), body])
}

/** Returns the content, cut into framed lines of one sideband. */
export function sideband(band: 1 | 2 | 3, content: Buffer, lineSize = LINE_LIMIT): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < content.length; at += lineSize - 5) {
    parts.push(pktLine(Buffer.concat([Buffer.from([band]), content.subarray(at, at + lineSize - 5)])))
  }
  return Buffer.concat(parts)
}

export interface Packet {
  /** Null for a flush. */
  readonly content: Buffer | null
  readonly raw: Buffer
}

/** Returns the complete packets at the beginning of `bytes`, at most `limit`, and the bytes after them. Throws BadProtocol. */
export function takePackets(bytes: Buffer, limit = Number.POSITIVE_INFINITY): { packets: Packet[]; rest: Buffer } {
  const packets: Packet[] = []
  let at = 0
  while (packets.length < limit && bytes.length - at >= 4) {
    const digits = bytes.toString('latin1', at, at + 4)
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : -1
    if (length > LINE_LIMIT || (length !== 0 && length < 4)) throw new BadProtocol('not a line of the git protocol')
    const end = at + Math.max(length, 4)
    if (end > bytes.length) break
    packets.push({ content: length === 0 ? null : bytes.subarray(at + 4, end), raw: bytes.subarray(at, end) })
    at = end
  }
  return { packets, rest: bytes.subarray(at) }
}

/** Returns true when the bytes are complete lines; 0001 and 0002 are the other two markers of version 2. */
export function isFramed(bytes: Buffer): boolean {
  let at = 0
  while (at < bytes.length) {
    const digits = bytes.toString('latin1', at, at + 4)
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : -1
    if (length < 0 || length === 3 || length > LINE_LIMIT) return false
    at += Math.max(length, 4)
  }
  return at === bytes.length
}
