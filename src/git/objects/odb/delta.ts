// Deltas as packs store them: they build an object from pieces of another object and from new bytes.
import { Damaged } from './leave-to-git.js'

export interface DeltaSizes {
  readonly base: number
  readonly result: number
  /** Where the instructions begin. */
  readonly at: number
}

/** Pieces of up to this many bytes are copied here. */
const SHORT = 96

/** Returns the header of a delta. Throws when it is cut off. */
export function deltaSizes(delta: Buffer): DeltaSizes {
  const base = sizeAt(delta, 0)
  const result = sizeAt(delta, base.at)
  return { base: base.value, result: result.value, at: result.at }
}

function sizeAt(delta: Buffer, from: number): { value: number; at: number } {
  let value = 0
  let unit = 1
  for (let at = from; at < from + 8; at++) {
    const byte = delta[at]
    if (byte === undefined) break
    value += (byte & 127) * unit
    if (byte < 128) return { value, at: at + 1 }
    unit *= 128
  }
  throw new Damaged('a delta has no size')
}

/** Builds an object from its base, into a buffer of its size. Throws when the delta does not fit the base, or is damaged. */
export function applyDelta(base: Buffer, delta: Buffer, result: Buffer): Buffer {
  const sizes = deltaSizes(delta)
  if (sizes.base !== base.length) throw new Damaged('a delta belongs to another base')
  let filled = 0
  let at = sizes.at
  while (at < delta.length) {
    const instruction = delta[at++] ?? 0
    if (instruction === 0) throw new Damaged('a delta has an unknown instruction')
    if (instruction < 128) {
      filled = put(delta, at, instruction, result, filled)
      at += instruction
      continue
    }
    let from = 0
    for (let bit = 0; bit < 4; bit++) if (instruction & (1 << bit)) from += (delta[at++] ?? 0) * 256 ** bit
    let length = 0
    for (let bit = 0; bit < 3; bit++) if (instruction & (16 << bit)) length |= (delta[at++] ?? 0) << (bit * 8)
    filled = put(base, from, length || 0x10000, result, filled)
  }
  if (filled !== result.length) throw new Damaged('a delta produces too few bytes')
  return result
}

/** Copies a piece, and returns the position after it. */
function put(source: Buffer, from: number, length: number, result: Buffer, at: number): number {
  if (from + length > source.length || at + length > result.length) throw new Damaged('a delta reaches beyond its base')
  // A call costs as much as this loop over SHORT bytes, and most pieces are shorter.
  if (length > SHORT) source.copy(result, at, from, from + length)
  else for (let done = 0; done < length; done++) result[at + done] = source[from + done] ?? 0
  return at + length
}
