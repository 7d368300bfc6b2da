// The header Range of HTTP: which bytes of a file a client wants.

/** A part of a file; both ends belong to it. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Chooses the part to send, once the size of the file is known; undefined for the whole of it. */
export type ChooseRange = (size: number) => ByteRange | undefined

/**
 * Reads the header for a file of `size` bytes. Returns undefined when the whole file is to be sent: without the header, and
 * for one that a server may ignore (another unit, several ranges, a wrong form). Returns null when the file has none of the
 * bytes.
 */
export function byteRange(header: string | undefined, size: number): ByteRange | null | undefined {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.replace(/\s/g, '') ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined
  // Without a beginning, the number says how many bytes of the end are wanted.
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (first !== '' && last !== '' && Number(last) < start) return undefined
  return start > end ? null : { start, end }
}
