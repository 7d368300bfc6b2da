// Reads objects of a pack: whole objects, and objects that are stored as a delta of another object in the same pack.
import { TwoGenerations } from '../../../lib/two-generations.js'
import { baseCacheSize } from '../cache-sizes.js'
import { applyDelta, deltaSizes } from './delta.js'
import { AT_ONCE, inflateElsewhere, inflateNow } from './inflate.js'
import { Damaged, LeaveToGit } from './leave-to-git.js'
import { type PackFile, readAt } from './open-files.js'

export interface StoredObject {
  readonly type: 'commit' | 'tree' | 'blob' | 'tag'
  readonly size: number
  /** Null when the content is larger than the caller accepts. */
  readonly content: Buffer | null
}

export interface IndexedPack extends PackFile {
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
/** Of a chain of deltas, each object of this number is kept: keeping all of them took more time than applying a few deltas again. */
const KEPT_OF_CHAIN = 4
/** Milliseconds. */
const IDLE = 600_000

/** Objects that were the base of others. */
const bases = new TwoGenerations<Whole>({
  most: baseCacheSize,
  sizeOf: ({ content }) => content.length + 200,
  idle: IDLE
})

interface Entry {
  readonly place: number
  readonly type: number
  /** The size of the content, or of the delta. */
  readonly size: number
  /** The number of bytes before the compressed content. */
  readonly head: number
  /** The compressed content, and perhaps bytes after it. */
  readonly compressed: Buffer
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
export async function readPacked(pack: IndexedPack, place: number, most: number): Promise<StoredObject> {
  const deltas: Entry[] = []
  let work = 0
  let at = place
  let base = bases.get(keyOf(pack, at))
  while (!base) {
    const start = readAt(pack, at, FIRST_READ)
    let entry = entryIn(Buffer.isBuffer(start) ? start : await start, at)
    const type = TYPES[entry.type]
    if (entry.size > most) {
      if (type && deltas.length === 0) return { type, size: entry.size, content: null }
      throw new LeaveToGit('a large delta, or a delta of a large object')
    }
    work += entry.size
    const rest = restOf(pack, entry)
    if (rest) entry = { ...entry, compressed: Buffer.isBuffer(rest) ? rest : await rest }
    if (type) {
      base = { type, content: await contentOf(entry) }
      if (deltas.length > 0) bases.set(keyOf(pack, at), base)
    } else {
      deltas.push(entry)
      at = baseOf(pack, entry)
      base = bases.get(keyOf(pack, at))
    }
    if (work > MOST_WORK || deltas.length > LONGEST_CHAIN) throw new LeaveToGit('a long chain of deltas')
  }
  const content = await unwind(pack, base, { deltas, most: Math.min(most, MOST_WORK - work) })
  return { type: base.type, size: content.length, content }
}

/** Room for the objects between those that are kept. Both are free again before anybody else can use them. */
const rooms = [Buffer.allocUnsafeSlow(AT_ONCE), Buffer.allocUnsafeSlow(AT_ONCE)] as const

/** Builds the object and keeps some of its bases: neighbours in the history have the same bases. */
async function unwind(
  pack: IndexedPack,
  base: Whole,
  { deltas, most }: { readonly deltas: readonly Entry[]; readonly most: number }
): Promise<Buffer> {
  const atOnce = deltas.every(({ size }) => size <= AT_ONCE)
  let { content } = base
  let work = 0
  for (let left = deltas.length - 1; left >= 0; left--) {
    const { place, size, compressed } = deltas[left] as Entry
    const delta = size > AT_ONCE ? await inflateElsewhere(compressed, size) : inflateNow(compressed, size)
    const { result } = deltaSizes(delta)
    work += result
    if (work > most) throw new LeaveToGit('a delta of a large object')
    const isKept = left % KEPT_OF_CHAIN === 0 || left === 1
    const into =
      isKept || !atOnce || result > AT_ONCE
        ? Buffer.allocUnsafeSlow(result)
        : rooms[left & 1 ? 1 : 0].subarray(0, result)
    content = applyDelta(content, delta, into)
    if (isKept && left > 0) bases.set(keyOf(pack, place), { type: base.type, content })
  }
  return content
}

/** A position in a pack of more than 4 GiB could be that of another pack, but then the object has another id. */
const keyOf = ({ number }: IndexedPack, place: number) => number * 2 ** 32 + place

/** Reads the header of an entry: the bytes before the compressed bytes. */
export function entryIn(start: Buffer, place: number): Entry {
  let at = 0
  let byte = byteOf(start, at++)
  const type = (byte >> 4) & 7
  let size = byte & 15
  for (let unit = 16; byte >= 128; unit *= 128) {
    byte = byteOf(start, at++)
    size += (byte & 127) * unit
  }
  const entry = (base: Entry['base'], end: number) => {
    return { place, type, size, head: end, compressed: start.subarray(end), base }
  }
  if (type === REFERENCE_DELTA) return entry(start.subarray(at, at + 20), at + 20)
  if (type !== OFFSET_DELTA) return entry(null, at)
  byte = byteOf(start, at++)
  let back = byte & 127
  while (byte >= 128) {
    byte = byteOf(start, at++)
    back = (back + 1) * 128 + (byte & 127)
  }
  return entry(place - back, at)
}

function byteOf(start: Buffer, at: number): number {
  const byte = at < HEAD ? start[at] : undefined
  if (byte === undefined) throw new Damaged('an entry of a pack has no header')
  return byte
}

/** Reads the compressed bytes again when the first read may not contain all of them. */
function restOf(pack: PackFile, { place, size, head, compressed }: Entry): Buffer | Promise<Buffer> | null {
  // The maximum number of bytes that zlib writes for data that it cannot compress.
  const longest = size + (size >> 12) + (size >> 14) + 64
  const isEnough = head + compressed.length < FIRST_READ || longest <= compressed.length
  return isEnough ? null : readAt(pack, place + head, longest)
}

async function contentOf({ size, compressed }: Entry): Promise<Buffer> {
  if (size > AT_ONCE) return inflateElsewhere(compressed, size)
  const content = Buffer.allocUnsafeSlow(size)
  inflateNow(compressed, size).copy(content)
  return content
}

function baseOf(pack: IndexedPack, { place, base }: Entry): number {
  const at = Buffer.isBuffer(base) ? pack.find(base) : base
  // A pack contains the bases of its deltas. A base that is given as an offset comes before its delta.
  if (at === null || at <= 0 || at === place || (typeof base === 'number' && at > place)) {
    throw new Damaged('a delta without a base')
  }
  return at
}
