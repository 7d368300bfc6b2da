// Keeps the files of packs open between reads, because opening and closing a file costs more than the read itself. Also
// keeps blocks of their bytes: each read goes through another thread, which takes longer than all other work for a
// small object, and git stores related objects next to each other. A pack that git has removed stays readable, and
// keeps its space on the disk, until its file is closed here.
import { close, open, read } from 'node:fs'
import { promisify } from 'node:util'
import { LRUCache } from 'lru-cache'
import { TwoGenerations } from '../../../lib/two-generations.js'
import { blockCacheSize } from '../cache-sizes.js'

// Plain file numbers: a handle of node:fs/promises is an object with more overhead for each call.
const files = { open: promisify(open), read: promisify(read) }

export interface PackFile {
  readonly path: string
  /** Differs from that of every other pack: a number is found faster in a cache than a path. */
  readonly number: number
}

/** The maximum number of open files. */
const MOST_OPEN = 1024
/** Milliseconds after which a file is closed. It is opened again for the next read. */
const IDLE = 30_000

/** The bytes of one read. */
const BLOCK = 32 * 1024
/** A block at a later position would have the key of another pack: more than 128 TiB. */
const MOST_BLOCKS = 2 ** 32

/** An open file. It is closed after it was dropped, as soon as nobody reads it. */
class OpenFile {
  readonly opened: Promise<number>
  #users = 0
  #dropped = false

  constructor(path: string) {
    this.opened = files.open(path, 'r')
  }

  async read(position: number, length: number): Promise<Buffer> {
    this.#users++
    try {
      const bytes = Buffer.allocUnsafe(length)
      const { bytesRead } = await files.read(await this.opened, bytes, 0, length, position)
      return bytesRead === length ? bytes : bytes.subarray(0, bytesRead)
    } finally {
      this.#users--
      this.#closeUnused()
    }
  }

  drop(): void {
    this.#dropped = true
    this.#closeUnused()
  }

  #closeUnused(): void {
    if (!this.#dropped || this.#users > 0) return
    this.opened.then(
      descriptor => close(descriptor),
      () => {}
    )
  }
}

const kept = new LRUCache<string, OpenFile>({
  max: MOST_OPEN,
  ttl: IDLE,
  ttlAutopurge: true,
  dispose: file => file.drop()
})

const blocks = new TwoGenerations<Buffer>({
  most: blockCacheSize,
  sizeOf: block => block.length + 200,
  idle: IDLE
})
const arriving = new Map<number, Promise<Buffer>>()

/**
 * Returns `length` bytes of a pack from a position, or fewer where the file ends. The file never changes. Rejects as
 * node:fs does. Cached bytes are returned without a promise.
 */
export function readAt(pack: PackFile, position: number, length: number): Buffer | Promise<Buffer> {
  const first = Math.floor(position / BLOCK)
  const last = Math.floor((position + length - 1) / BLOCK)
  // A large object would displace the blocks of many small ones.
  if (last - first > 1) return fileOf(pack).read(position, length)
  const one = blockAt(pack, first)
  const other = last > first ? blockAt(pack, last) : NOTHING
  const start = position - first * BLOCK
  if (Buffer.isBuffer(one) && Buffer.isBuffer(other)) return part(one, other, start, length)
  return Promise.all([one, other]).then(([from, to]) => part(from, to, start, length))
}

const NOTHING = Buffer.alloc(0)

function part(one: Buffer, other: Buffer, start: number, length: number): Buffer {
  const end = start + length
  if (end <= BLOCK || other.length === 0) return one.subarray(start, end)
  return Buffer.concat([one.subarray(start), other.subarray(0, end - BLOCK)])
}

function blockAt(pack: PackFile, number: number): Buffer | Promise<Buffer> {
  const key = pack.number * MOST_BLOCKS + number
  return blocks.get(key) ?? arriving.get(key) ?? readBlock(pack, number, key)
}

function readBlock(pack: PackFile, number: number, key: number): Promise<Buffer> {
  const block = fileOf(pack)
    .read(number * BLOCK, BLOCK)
    .then(bytes => {
      // The last block is copied, so that it does not keep unused memory.
      const kept = bytes.length < BLOCK ? Buffer.from(bytes) : bytes
      blocks.set(key, kept)
      return kept
    })
    .finally(() => arriving.delete(key))
  arriving.set(key, block)
  return block
}

/** Closes the files whose paths begin with `prefix` as soon as nobody reads them. */
export function closeFiles(prefix = ''): void {
  for (const path of [...kept.keys()]) if (path.startsWith(prefix)) kept.delete(path)
}

const fileOf = ({ path }: PackFile): OpenFile => kept.get(path) ?? openFile(path)

function openFile(path: string): OpenFile {
  const file = new OpenFile(path)
  kept.set(path, file)
  file.opened.catch(() => {
    if (kept.peek(path) === file) kept.delete(path)
  })
  return file
}
