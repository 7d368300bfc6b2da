// Finds objects in the index of a pack (`.idx`, version 2), which holds sorted ids and the position of each object in the pack.
import { readFile } from 'node:fs/promises'
import { LeaveToGit } from './leave-to-git.js'

export interface PackIndex {
  /** The bytes that the index takes in memory. */
  readonly bytes: number
  /** Returns where an object begins in the pack, or null. Throws when the file is damaged. */
  find(id: Buffer): number | null
}

/**
 * The maximum size in bytes of an index that is read: 36,000 objects. In a larger repository deltas have long chains,
 * and a shared git process reads them faster (60 us per object instead of 1.9 ms on 80,000 commits).
 */
const LARGEST = 1024 * 1024
const SIGNATURE = 0xff744f63
const VERSION = 2
const HEADER = 8
const FANOUT = 256 * 4
const ID = 20
/** For each object: its id, a checksum and its position. */
const ENTRY = ID + 4 + 4
const LARGE_OFFSET = 0x80000000

/** Opens an index. Returns null for an index that only git should read: one with another version, or a large one. */
export async function openPackIndex(path: string, size: number): Promise<PackIndex | null> {
  return size <= LARGEST ? indexOf(await readFile(path)) : null
}

function indexOf(file: Buffer): PackIndex | null {
  if (file.length < HEADER + FANOUT || file.readUInt32BE(0) !== SIGNATURE) return null
  if (file.readUInt32BE(4) !== VERSION) return null
  const until = (byte: number) => (byte < 0 ? 0 : file.readUInt32BE(HEADER + byte * 4))
  const count = until(255)
  const ids = HEADER + FANOUT
  const places = ids + count * (ID + 4)
  const largePlaces = ids + count * ENTRY
  if (largePlaces > file.length) return null
  return {
    bytes: file.length + 500,
    find: id => {
      const byte = id[0] ?? 0
      const [from, to] = [until(byte - 1), until(byte)]
      if (to > count) throw new LeaveToGit('an index is damaged')
      const at = search(file.subarray(ids), id, from, to)
      if (at === null) return null
      const place = file.readUInt32BE(places + at * 4)
      return place < LARGE_OFFSET ? place : Number(file.readBigUInt64BE(largePlaces + (place - LARGE_OFFSET) * 8))
    }
  }
}

/** Returns the position of an id among the ids from `low` up to but not including `high`, or null. */
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
