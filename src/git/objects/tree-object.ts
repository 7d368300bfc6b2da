// A tree as git stores it. Its entries are found in the stored bytes, so that a folder of a million files takes only
// its bytes and no objects.
import { mayBeEscaped, textOfName } from './names.js'
import { nextPiece } from './time-slices.js'

export interface TreeEntry {
  /** Six digits, such as 100644, 100755, 120000 (symlink), 160000 (submodule), 040000 (tree). */
  readonly mode: string
  /** Bytes that are not UTF-8 are escaped (names.ts). */
  readonly name: string
  readonly type: 'tree' | 'blob' | 'commit'
  readonly id: string
}

export interface Tree {
  /** The bytes that the tree takes in memory. */
  readonly bytes: number
  /** The stored bytes. */
  readonly raw: Buffer
  /** Returns the entry with this name, or null. */
  find(name: string): TreeEntry | null
  /** Returns entries in git's order from an offset; `next` is the offset of the entries that follow, or null at the end. */
  read(from: number): { readonly entries: readonly TreeEntry[]; readonly next: number | null }
}

/** A tree of up to this many bytes (1,500 entries) is parsed once, when it is listed. A larger tree is read in parts. */
const SMALL = 65_536
/** The number of entries of a large tree that are read at a time: about a millisecond of work. */
const PART = 2000
/** The number of bytes after which such a part ends, and a scan lets other work run: names may have 65,000 bytes. */
const PART_BYTES = 1_048_576
/** The offset of each 256th entry is kept, so that finding a name among a million takes microseconds. */
const MARKED = 256
export const ID_BYTES = 20
const SPACE = 32
const SLASH = 47

/**
 * Creates a tree from its stored bytes. It scans a large tree in parts, and lets other work run between them. Throws
 * when the tree is incomplete.
 */
export async function openTree(raw: Buffer): Promise<Tree> {
  if (raw.length <= SMALL) return smallTree(raw)
  const marks = await markEntries(raw)
  return largeTree(raw, marks)
}

function smallTree(raw: Buffer): Tree {
  endOf(raw, 0, Number.POSITIVE_INFINITY)
  let entries: readonly TreeEntry[] | undefined
  return {
    // Strings and objects take about four times the raw bytes.
    bytes: raw.length * 5,
    raw,
    find: name => scan(raw, 0, raw.length, name),
    read: () => {
      entries ??= parseTree(raw)
      return { entries, next: null }
    }
  }
}

function largeTree(raw: Buffer, marks: Marks): Tree {
  return {
    bytes: raw.length + marks.places.byteLength,
    raw,
    find: name => {
      if (!marks.sorted || mayBeEscaped(name)) return scan(raw, 0, raw.length, name)
      // A folder sorts as if its name ended in a slash, so the same name has two places.
      const [asFile, asFolder] = [Buffer.from(name), Buffer.from(`${name}/`)]
      return lookup(raw, marks.places, asFile, name) ?? lookup(raw, marks.places, asFolder, name)
    },
    read: from => {
      const end = endOf(raw, from, PART, PART_BYTES)
      return { entries: parseTree(raw.subarray(from, end)), next: end < raw.length ? end : null }
    }
  }
}

interface Marks {
  /** The offset of each 256th entry. */
  readonly places: Uint32Array
  /** Whether all entries are in git's order. Some tools wrote trees that are not. */
  readonly sorted: boolean
}

async function markEntries(raw: Buffer): Promise<Marks> {
  const places: number[] = []
  let sorted = true
  let [before, beforeEnd, beforeFolder] = [0, 0, false]
  let entries = 0
  let pause = PART_BYTES
  for (let at = 0; at < raw.length; entries++) {
    if (entries % MARKED === 0) places.push(at)
    if (at > pause) {
      await nextPiece()
      pause = at + PART_BYTES
    }
    const name = nameAt(raw, at)
    const end = nameEnd(raw, name)
    const folder = raw[at] === 0x34 // only the mode 40000 begins with a 4
    if (entries > 0 && order(raw, [before, beforeEnd, beforeFolder], [name, end, folder]) >= 0) sorted = false
    ;[before, beforeEnd, beforeFolder] = [name, end, folder]
    at = end + 1 + ID_BYTES
  }
  return { places: Uint32Array.from(places), sorted }
}

type Name = readonly [from: number, end: number, folder: boolean]

/** Compares two names byte by byte; the name of a folder ends in a slash. */
function order(raw: Buffer, [a, aEnd, aFolder]: Name, [b, bEnd, bFolder]: Name): number {
  for (let at = 0; ; at++) {
    const one = a + at < aEnd ? (raw[a + at] as number) : a + at === aEnd && aFolder ? SLASH : 0
    const other = b + at < bEnd ? (raw[b + at] as number) : b + at === bEnd && bFolder ? SLASH : 0
    if (one !== other || one === 0) return one - other
  }
}

/** Finds a name in a sorted tree: a binary search finds the part between two marks, and a scan finds the entry within it. */
function lookup(raw: Buffer, places: Uint32Array, key: Buffer, name: string): TreeEntry | null {
  let low = 0
  let high = places.length
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    const at = places[middle] as number
    const from = nameAt(raw, at)
    const end = nameEnd(raw, from)
    const stored =
      raw[at] === 0x34 ? Buffer.concat([raw.subarray(from, end), Buffer.from('/')]) : raw.subarray(from, end)
    if (stored.compare(key) <= 0) low = middle
    else high = middle
  }
  return scan(raw, places[low] ?? 0, places[low + 1] ?? raw.length, name)
}

/** Looks for a name entry by entry. */
function scan(raw: Buffer, from: number, to: number, name: string): TreeEntry | null {
  if (mayBeEscaped(name)) return parseTree(raw.subarray(from, to)).find(entry => entry.name === name) ?? null
  const wanted = Buffer.from(name)
  for (let at = from; at < to; ) {
    const start = nameAt(raw, at)
    let end = start
    while (end - start < wanted.length && raw[end] === wanted[end - start]) end++
    if (end - start === wanted.length && raw[end] === 0) return entryAt(raw, at, start, end)
    at = nameEnd(raw, end) + 1 + ID_BYTES
  }
  return null
}

/** Returns where the name of the entry at an offset begins. A mode has five or six digits. */
export function nameAt(raw: Buffer, at: number): number {
  if (raw[at + 5] === SPACE) return at + 6
  return raw[at + 6] === SPACE ? at + 7 : raw.indexOf(SPACE, at) + 1
}

/** Returns where a name ends. Throws when the entry is incomplete. */
export function nameEnd(raw: Buffer, from: number): number {
  let end = from
  // Most names end sooner than a search of the buffer begins.
  const soon = Math.min(from + 64, raw.length)
  while (end < soon && raw[end] !== 0) end++
  if (end === soon && end < raw.length && raw[end] !== 0) {
    const found = raw.indexOf(0, end)
    end = found === -1 ? raw.length : found
  }
  if (from === 0 || end + ID_BYTES >= raw.length) throw new Error('a tree is incomplete')
  return end
}

/** Returns the entry at an offset, whose name is between `name` and `end`. */
export function entryAt(raw: Buffer, at: number, name: number, end: number): TreeEntry {
  const mode = raw.toString('latin1', at, name - 1).padStart(6, '0')
  const id = raw.toString('hex', end + 1, end + 1 + ID_BYTES)
  return { mode, name: textOfName(raw, name, end), type: typeOf(mode), id }
}

function typeOf(mode: string): TreeEntry['type'] {
  if (mode === '040000') return 'tree'
  return mode === '160000' ? 'commit' : 'blob'
}

/** Returns the offset after at most `count` entries, and not far beyond `bytes`. */
function endOf(raw: Buffer, from: number, count: number, bytes = Number.POSITIVE_INFINITY): number {
  let at = from
  for (let left = count; left > 0 && at < raw.length && at - from < bytes; left--)
    at = nameEnd(raw, nameAt(raw, at)) + 1 + ID_BYTES
  return at
}

/** Returns the entries of a raw tree, in git's order. Throws when the tree is incomplete. */
export function parseTree(content: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = []
  for (let at = 0; at < content.length; ) {
    const name = nameAt(content, at)
    const end = nameEnd(content, name)
    entries.push(entryAt(content, at, name, end))
    at = end + 1 + ID_BYTES
  }
  return entries
}
