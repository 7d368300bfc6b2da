// Keeps the files of packs open between reads, because opening and closing a file costs more than the read itself. Also
// keeps blocks of their bytes: each read goes through another thread, which takes longer than all other work for a
// small object, and git stores related objects next to each other. A pack that git has removed stays readable, and
// keeps its space on the disk, until its file is closed here.
import { close, open, read } from 'node:fs'
import { promisify } from 'node:util'
import { LRUCache } from 'lru-cache'

// Plain file numbers: a handle of node:fs/promises is an object with more overhead for each call.
const files = { open: promisify(open), read: promisify(read) }

/** The maximum number of open files. */
const MOST_OPEN = 256
/** Milliseconds after which a file is closed. It is opened again for the next read. */
const IDLE = 30_000

/** The bytes of one read. */
const BLOCK = 32 * 1024
/** The maximum number of bytes in all blocks that are kept. */
const BLOCKS_KEPT = 32 * 1024 * 1024

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

const blocks = new LRUCache<string, Buffer>({
  maxSize: BLOCKS_KEPT,
  sizeCalculation: block => block.length + 200,
  ttl: IDLE,
  ttlAutopurge: true
})
const arriving = new Map<string, Promise<Buffer>>()

/**
 * Returns `length` bytes of a file from a position, or fewer where the file ends. The file never changes. Rejects as
 * node:fs does. Cached bytes are returned without a promise.
 */
export function readAt(path: string, position: number, length: number): Buffer | Promise<Buffer> {
  const first = Math.floor(position / BLOCK)
  const last = Math.floor((position + length - 1) / BLOCK)
  // A large object would displace the blocks of many small ones.
  if (last - first > 1) return fileOf(path).read(position, length)
  const one = blockAt(path, first)
  const other = last > first ? blockAt(path, last) : NOTHING
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

function blockAt(path: string, number: number): Buffer | Promise<Buffer> {
  const key = `${path}\0${number}`
  return blocks.get(key) ?? arriving.get(key) ?? readBlock(path, number, key)
}

function readBlock(path: string, number: number, key: string): Promise<Buffer> {
  const block = fileOf(path)
    .read(number * BLOCK, BLOCK)
    .then(bytes => {
      // The last block is copied, so that it does not keep unused memory.
      const kept = bytes.length < BLOCK ? Buffer.from(bytes) : bytes
      if (arriving.get(key) === block) blocks.set(key, kept)
      return kept
    })
    .finally(() => {
      if (arriving.get(key) === block) arriving.delete(key)
    })
  arriving.set(key, block)
  return block
}

/** Closes the files whose paths begin with `prefix` as soon as nobody reads them, and drops their blocks. */
export function closeFiles(prefix = ''): void {
  for (const entries of [kept, blocks, arriving]) {
    for (const key of [...entries.keys()]) if (key.startsWith(prefix)) entries.delete(key)
  }
}

const fileOf = (path: string): OpenFile => kept.get(path) ?? openFile(path)

function openFile(path: string): OpenFile {
  const file = new OpenFile(path)
  kept.set(path, file)
  file.opened.catch(() => {
    if (kept.peek(path) === file) kept.delete(path)
  })
  return file
}
