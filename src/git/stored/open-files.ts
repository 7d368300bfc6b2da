// Keeps the files of packs open between reads: opening and closing one costs more than the read itself. A pack that git has
// removed stays readable, and keeps its room on the disk, until its file is closed here.
import { close, open, read } from 'node:fs'
import { promisify } from 'node:util'
import { LRUCache } from 'lru-cache'

// Plain file numbers: a handle of node:fs/promises is an object with more work around each call.
const files = { open: promisify(open), read: promisify(read) }

/** Files that are open at once. */
const MOST_OPEN = 256
/** Milliseconds after which a file is closed, and opened again when somebody reads it. */
const IDLE = 30_000

/** An open file. It is closed when it was dropped and nobody reads it. */
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

/** Returns the bytes of a file from a place on: `length` of them, or fewer where the file ends. Rejects as node:fs does. */
export function readAt(path: string, position: number, length: number): Promise<Buffer> {
  return (kept.get(path) ?? openFile(path)).read(position, length)
}

/** Closes the files whose paths begin so, or all of them, as soon as nobody reads them. */
export function closeFiles(prefix = ''): void {
  for (const path of [...kept.keys()]) if (path.startsWith(prefix)) kept.delete(path)
}

function openFile(path: string): OpenFile {
  const file = new OpenFile(path)
  kept.set(path, file)
  file.opened.catch(() => {
    if (kept.peek(path) === file) kept.delete(path)
  })
  return file
}
