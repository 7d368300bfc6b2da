// Reads objects of a pack: whole objects, and objects that are stored as a delta of another object in the same pack.
import { LRUCache } from 'lru-cache'
import { applyDelta, deltaSizes } from './delta.js'
import { inflated } from './inflate.js'
import { LeaveToGit } from './leave-to-git.js'
import { readAt } from './open-files.js'

export interface StoredObject {
  readonly type: 'commit' | 'tree' | 'blob' | 'tag'
  readonly size: number
  /** Null when the content is larger than the caller accepts. */
  readonly content: Buffer | null
}

export interface PackFile {
  readonly path: string
  find(id: Buffer): number | null
}

const TYPES: { readonly [type: number]: StoredObject['type'] } = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' }
const OFFSET_DELTA = 6
const REFERENCE_DELTA = 7
/** The bytes of the first read of an object: most commits and trees are shorter. Node.js collects larger buffers one by one. */
const FIRST_READ = 2048
/** The maximum number of bytes for the type, the size, and the base of a delta. */
const HEAD = 40
/** By default, git makes chains of at most 50 deltas. */
const LONGEST_CHAIN = 64
/** The maximum number of bytes of all deltas and objects that one call may produce. */
const MOST_WORK = 4 * 1024 * 1024

/** Objects that were the base of others. */
const bases = new LRUCache<string, Whole>({
  maxSize: 16 * 1024 * 1024,
  sizeCalculation: ({ content }) => content.length + 300
})

interface Entry {
  readonly type: number
  /** The size of the content, or of the delta. */
  readonly size: number
  /** The offset of the compressed bytes in the entry. */
  readonly at: number
  /** The bytes of the first read. */
  readonly start: Buffer
  readonly base: number | Buffer | null
}

interface Whole {
  readonly type: StoredObject['type']
  readonly content: Buffer
}

/**
 * Returns the object at a position of a pack. Its content is null when it has more than `most` bytes. Throws LeaveToGit
 * for an object that git should read, and rejects as node:fs and node:zlib do.
 */
export async function readPacked(pack: PackFile, place: number, most: number): Promise<StoredObject> {
  const deltas: { readonly place: number; readonly delta: Buffer }[] = []
  let work = 0
  let at = place
  let base = bases.get(keyOf(pack, at))
  while (!base) {
    const start = readAt(pack.path, at, FIRST_READ)
    const entry = entryIn(Buffer.isBuffer(start) ? start : await start, at)
    const type = TYPES[entry.type]
    if (entry.size > most) {
      if (type && deltas.length === 0) return { type, size: entry.size, content: null }
      throw new LeaveToGit('a large delta, or a delta of a large object')
    }
    const content = await contentOf(pack, at, entry)
    work += content.length
    if (type) base = { type, content }
    else {
      const { result } = deltaSizes(content)
      work += result
      if (result > most) throw new LeaveToGit('a delta of a large object')
      deltas.push({ place: at, delta: content })
      at = baseOf(pack, at, entry)
      base = bases.get(keyOf(pack, at))
    }
    if (work > MOST_WORK || deltas.length > LONGEST_CHAIN) throw new LeaveToGit('a long chain of deltas')
  }
  const { type, content } = unwind(pack, { at, base }, deltas)
  return { type, size: content.length, content }
}

/** Builds the object and keeps its bases: neighbours in the history have the same bases. */
function unwind(
  pack: PackFile,
  { at, base }: { at: number; base: Whole },
  deltas: readonly { readonly place: number; readonly delta: Buffer }[]
): Whole {
  let whole = base
  let place = at
  for (const { delta, place: next } of [...deltas].reverse()) {
    bases.set(keyOf(pack, place), whole)
    whole = { type: base.type, content: applyDelta(whole.content, delta) }
    place = next
  }
  return whole
}

const keyOf = ({ path }: PackFile, place: number) => `${path}\0${place}`

/** Reads the header of an entry: the bytes before the compressed bytes. */
function entryIn(start: Buffer, place: number): Entry {
  let at = 0
  let byte = byteOf(start, at++)
  const type = (byte >> 4) & 7
  let size = byte & 15
  for (let unit = 16; byte >= 128; unit *= 128) {
    byte = byteOf(start, at++)
    size += (byte & 127) * unit
  }
  if (type === REFERENCE_DELTA) return { type, size, at: at + 20, start, base: start.subarray(at, at + 20) }
  if (type !== OFFSET_DELTA) return { type, size, at, start, base: null }
  byte = byteOf(start, at++)
  let back = byte & 127
  while (byte >= 128) {
    byte = byteOf(start, at++)
    back = (back + 1) * 128 + (byte & 127)
  }
  return { type, size, at, start, base: place - back }
}

function byteOf(start: Buffer, at: number): number {
  const byte = at < HEAD ? start[at] : undefined
  if (byte === undefined) throw new LeaveToGit('an entry of a pack has no header')
  return byte
}

async function contentOf({ path }: PackFile, place: number, { size, at, start }: Entry): Promise<Buffer> {
  // The maximum number of bytes that zlib writes for data that it cannot compress.
  const longest = size + (size >> 12) + (size >> 14) + 64
  const enough = start.length < FIRST_READ || at + longest <= FIRST_READ
  return inflated(enough ? start.subarray(at) : await readAt(path, place + at, longest), size)
}

function baseOf(pack: PackFile, place: number, { base }: Entry): number {
  const at = Buffer.isBuffer(base) ? pack.find(base) : base
  // A pack contains the bases of its deltas. A base that is given as an offset comes before its delta.
  if (at === null || at <= 0 || at === place || (typeof base === 'number' && at > place)) {
    throw new LeaveToGit('a delta without a base')
  }
  return at
}
