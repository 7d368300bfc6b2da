import { parse } from 'range-parser'

/** A part of a file, including both ends. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Chooses the part to send, once the size of the file is known; undefined for the whole file. */
export type ChooseRange = (size: number) => ByteRange | undefined

const MALFORMED = 1
const UNSATISFIABLE = 2

/**
 * Parses the header Range for a file of `size` bytes. Returns null when the file contains none of the bytes. Returns
 * undefined when the whole file must be sent: without the header, and for headers that a server may ignore (another
 * unit, several ranges, a syntax error).
 */
export function byteRange(header: string | undefined, size: number): ByteRange | null | undefined {
  const { code, type, ranges } = parse(size, header ?? '')
  if (type !== 'bytes' || code & MALFORMED || ranges.length > 1) return undefined
  return ranges[0] ?? (code & UNSATISFIABLE ? null : undefined)
}
