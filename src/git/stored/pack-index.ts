// Finds objects in the index of a pack (`.idx`, version 2): ids in order, and for each the place in the pack.
import { readFile, stat } from 'node:fs/promises'
import { LeaveToGit } from './leave-to-git.js'
import { readAt } from './open-files.js'

export interface PackIndex {
  /** The bytes that it takes in memory. */
  readonly bytes: number
  /** Returns where an object begins in the pack, or null. Throws when the file is damaged. */
  find(id: Buffer): Promise<number | null> | number | null
}

/** An index of at most so many bytes (36,000 objects) is kept in memory. Of a larger one, a find reads what it needs. */
const SMALL = 1024 * 1024
/** The ids with the same first byte are read at once: 256 KiB of them in a pack of 3 million objects. Not more. */
const MOST_READ = 256 * 1024
const SIGNATURE = 0xff744f63
const VERSION = 2
const HEADER = 8
const FANOUT = 256 * 4
const ID = 20
/** For each object: its id, a checksum and the place. */
const ENTRY = ID + 4 + 4
const LARGE_OFFSET = 0x80000000

/** Opens an index. Returns null for one that only git can read: of another version, or of more than 3 million objects. */
export async function openPackIndex(path: string): Promise<PackIndex | null> {
  const { size } = await stat(path)
  if (size <= SMALL) return indexOf(await readFile(path), { size, all: true }, async () => Buffer.alloc(0))
  const head = await readAt(path, 0, HEADER + FANOUT)
  return indexOf(head, { size, all: false }, (at, length) => readAt(path, at, length))
}

function indexOf(
  head: Buffer,
  { size, all }: { size: number; all: boolean },
  more: (at: number, length: number) => Promise<Buffer>
): PackIndex | null {
  if (head.length < HEADER + FANOUT || head.readUInt32BE(0) !== SIGNATURE) return null
  if (head.readUInt32BE(4) !== VERSION) return null
  const until = (byte: number) => (byte < 0 ? 0 : head.readUInt32BE(HEADER + byte * 4))
  const count = until(255)
  const ids = HEADER + FANOUT
  const places = ids + count * (ID + 4)
  const largePlaces = ids + count * ENTRY
  if (largePlaces > size || count * ID > 256 * MOST_READ) return null

  async function findInFile(id: Buffer, from: number, to: number): Promise<number | null> {
    if ((to - from) * ID > MOST_READ) throw new LeaveToGit('an index is not sorted')
    const part = await more(ids + from * ID, (to - from) * ID)
    const at = search(part, id, 0, part.length / ID)
    if (at === null) return null
    const place = (await more(places + (from + at) * 4, 4)).readUInt32BE(0)
    if (place < LARGE_OFFSET) return place
    return Number((await more(largePlaces + (place - LARGE_OFFSET) * 8, 8)).readBigUInt64BE(0))
  }

  return {
    bytes: head.length + 500,
    find: id => {
      const byte = id[0] ?? 0
      const [from, to] = [until(byte - 1), until(byte)]
      if (from >= to) return null
      if (!all) return findInFile(id, from, Math.min(to, count))
      const at = search(head.subarray(ids), id, from, Math.min(to, count))
      if (at === null) return null
      const place = head.readUInt32BE(places + at * 4)
      return place < LARGE_OFFSET ? place : Number(head.readBigUInt64BE(largePlaces + (place - LARGE_OFFSET) * 8))
    }
  }
}

/** Returns the place of an id among those from `low` until before `high`, or null. */
function search(ids: Buffer, id: Buffer, low: number, high: number): number | null {
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = ids.compare(id, 0, ID, middle * ID, middle * ID + ID)
    if (order === 0) return middle
    if (order < 0) low = middle + 1
    else high = middle
  }
  return null
}
