// Keeps a stream between a writer and its readers, so that neither waits for the other: in memory up to a size, then in
// a temporary file. Because of it a git process never waits for a slow client, and never holds a slot meanwhile.
import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { config } from '../config.js'
import { TooLarge, Unavailable } from '../errors.js'
import { isDiskFull } from '../lib/disk-full.js'

export interface SpoolOptions {
  /** Bytes that stay in memory. More go to the file. */
  readonly memory: number
  /** Keeps everything from the beginning, for readers that come later. */
  readonly keep: boolean
  /** A spool with more bytes than these keeps nothing for later readers. */
  readonly mostKept?: number
}

interface Reading {
  at: number
}

const READ_SIZE = 256 * 1024
/** Shorter pieces are joined: a client that sends single bytes must not cost a buffer for each. */
const SMALL = 4096

/** Bytes in the files of all spools of this process. */
let spooled = 0

/** Returns the bytes in the temporary files of requests and answers of git, for the metrics. */
export const spooledBytes = (): number => spooled

export class Spool {
  /** Bytes written so far. */
  size = 0
  #keep: boolean
  readonly #memory: number
  readonly #mostKept: number
  #window: Buffer[] = []
  /** The position of the first byte in memory; everything before it is in the file, or was read by everybody. */
  #windowAt = 0
  #file: FileHandle | undefined
  /** The position of the first byte in the file. */
  #fileAt = 0
  #ended = false
  #storing = false
  #closed = false
  #error: Error | undefined
  readonly #readings = new Set<Reading>()
  #waiting: (() => void)[] = []
  #unused: () => void = () => {}
  #complete: () => void = () => {}

  constructor({ memory, keep, mostKept = Number.POSITIVE_INFINITY }: SpoolOptions) {
    this.#memory = memory
    this.#mostKept = mostKept
    this.#keep = keep
  }

  /** Whether a new reader would get everything from the beginning. */
  isWhole(): boolean {
    return this.#keep && !this.#closed && this.#error === undefined
  }

  /** Calls `unused` when the last reader leaves a spool that keeps nothing for later ones. */
  onUnused(unused: () => void): void {
    this.#unused = unused
  }

  /** Calls `complete` when everything is written. */
  onComplete(complete: () => void): void {
    this.#complete = complete
  }

  /**
   * Takes the next bytes; only one call at a time. Waits for the readers only when no room is left on the disk. Throws
   * Unavailable when there are no readers to wait for either.
   */
  async write(chunk: Buffer): Promise<void> {
    this.#push(chunk)
    if (this.size > this.#mostKept) this.#keep = false
    this.#wake()
    while (this.#inMemory() > this.#memory && !this.#closed) {
      const lowest = this.#lowest()
      if (!this.#keep) await this.#dropRead()
      if (this.#inMemory() <= this.#memory || (await this.#store())) return
      if (this.#readings.size === 0) throw new Unavailable('No room is left for what clients of git send and get')
      const kept = this.#keep
      this.#keep = false
      if (!kept && this.#lowest() === lowest) await this.#change()
    }
  }

  end(): void {
    this.#ended = true
    this.#complete()
    this.#wake()
    this.#leaveIfUnused()
  }

  /** All readers fail with this error, also those that come later. */
  fail(error: Error): void {
    this.#error ??= error
    this.#keep = false
    this.#wake()
    this.#leaveIfUnused()
  }

  /** Waits for the first byte, the end or a failure. Throws the failure. */
  async begun(): Promise<void> {
    while (this.size === 0 && !this.#ended && !this.#closed && !this.#error) await this.#change()
    if (this.#error && this.size === 0) throw this.#error
  }

  /** Keeps nothing for later readers from now on. The file goes with the last reader. */
  release(): void {
    this.#keep = false
    this.#leaveIfUnused()
  }

  /** Returns a stream of everything that is still here, from the beginning when the spool is whole. */
  read(): Readable {
    const reading: Reading = { at: this.#fileAt }
    this.#readings.add(reading)
    const stream = new Readable({
      highWaterMark: READ_SIZE,
      read: () => {
        this.#next(reading).then(
          chunk => stream.push(chunk),
          error => stream.destroy(error)
        )
      },
      destroy: (error, callback) => {
        this.#leave(reading)
        callback(error)
      }
    })
    return stream.on('error', () => {}) // the reader gets the error, but there may be no reader any more
  }

  /** Everything, when it fits in memory; null when some of it is in the file. */
  small(): Buffer | null {
    return this.#windowAt === 0 ? Buffer.concat(this.#window) : null
  }

  #push(chunk: Buffer): void {
    this.size += chunk.length
    const last = this.#window.at(-1)
    if (!last || last.length + chunk.length > SMALL) this.#window.push(chunk)
    else this.#window[this.#window.length - 1] = Buffer.concat([last, chunk])
  }

  #inMemory(): number {
    return this.size - this.#windowAt
  }

  #lowest(): number {
    return Math.min(...[...this.#readings].map(({ at }) => at))
  }

  /** Forgets what every reader has read. */
  async #dropRead(): Promise<void> {
    if (this.#readings.size === 0) return
    const lowest = this.#lowest()
    if (lowest < this.#windowAt) return
    if (this.#file && this.#fileAt < this.#windowAt) {
      spooled -= this.#windowAt - this.#fileAt
      this.#fileAt = this.#windowAt
      await this.#file.truncate(0)
    }
    for (let first = this.#window[0]; first && this.#windowAt + first.length <= lowest; first = this.#window[0]) {
      this.#window.shift()
      this.#windowAt += first.length
    }
    this.#fileAt = this.#windowAt
  }

  /** Moves the memory to the file. Returns false when there is no room for it. */
  async #store(): Promise<boolean> {
    const bytes = this.#inMemory()
    if (spooled + bytes > config().git.max_spooled) return false
    spooled += bytes
    this.#storing = true
    try {
      this.#file ??= await openNameless()
      const content = Buffer.concat(this.#window)
      for (let at = 0; at < bytes; ) {
        const position = this.#windowAt - this.#fileAt + at
        at += (await this.#file.write(content, at, bytes - at, position)).bytesWritten
      }
      this.#window = []
      this.#windowAt += bytes
      return true
    } catch (error) {
      spooled -= bytes
      if (isDiskFull(error)) return false
      throw error
    } finally {
      this.#storing = false
      if (this.#closed) this.#close()
    }
  }

  async #next(reading: Reading): Promise<Buffer | null> {
    for (;;) {
      if (this.#error) throw this.#error
      if (reading.at < this.#windowAt) return await this.#fromFile(reading)
      if (reading.at < this.size) return this.#fromMemory(reading)
      if (this.#ended) return null
      await this.#change()
    }
  }

  async #fromFile(reading: Reading): Promise<Buffer> {
    const wanted = Math.min(READ_SIZE, this.#windowAt - reading.at)
    const content = Buffer.allocUnsafe(wanted)
    const found = await this.#file?.read(content, 0, wanted, reading.at - this.#fileAt)
    if (!found?.bytesRead) throw new Error('the file of a spool is shorter than what was written')
    reading.at += found.bytesRead
    return content.subarray(0, found.bytesRead)
  }

  #fromMemory(reading: Reading): Buffer {
    let at = this.#windowAt
    for (const part of this.#window) {
      if (reading.at < at + part.length) {
        const found = part.subarray(reading.at - at)
        reading.at += found.length
        this.#wake()
        return found
      }
      at += part.length
    }
    throw new Error('a reader is behind the end of its spool')
  }

  #change(): Promise<void> {
    return new Promise(resolve => this.#waiting.push(resolve))
  }

  #wake(): void {
    const woken = this.#waiting
    this.#waiting = []
    for (const go of woken) go()
  }

  /** What nobody waits for is not finished for later readers. */
  #leave(reading: Reading): void {
    this.#readings.delete(reading)
    if (this.#readings.size === 0 && !this.#ended) this.#keep = false
    this.#wake()
    this.#leaveIfUnused()
  }

  #leaveIfUnused(): void {
    if (this.#keep || this.#closed || this.#readings.size > 0) return
    this.#closed = true
    this.#wake()
    this.#unused()
    this.#close()
  }

  #close(): void {
    if (this.#storing) return // the write closes the file when it is done
    spooled -= this.#windowAt - this.#fileAt
    this.#window = []
    this.#windowAt = this.size
    this.#fileAt = this.size
    void this.#file?.close().catch(() => {})
    this.#file = undefined
  }
}

/** A file whose name is removed at once: nothing of it stays when the process ends, however it ends. */
async function openNameless(): Promise<FileHandle> {
  const folder = join(config().home, 'tmp')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `spool-${randomBytes(8).toString('hex')}`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}

/** Bytes of a request that stay in memory. */
const REQUEST_MEMORY = 64 * 1024

/**
 * Reads a request to its end, so that no git process and no slot waits for its client. The caller releases the result.
 * Throws TooLarge when the request has more than `limit` bytes, Unavailable when no room is left, and the error of the
 * input when it is cut off.
 */
export async function spoolRequest(input: AsyncIterable<Buffer>, limit: number, excess: string): Promise<Spool> {
  const spool = new Spool({ memory: REQUEST_MEMORY, keep: true })
  try {
    // Destroying the input would cut the connection, and the client would get no answer.
    const chunks = input instanceof Readable ? input.iterator({ destroyOnReturn: false }) : input
    for await (const chunk of chunks as AsyncIterable<Buffer>) {
      if (spool.size + chunk.length > limit) throw new TooLarge(excess)
      await spool.write(chunk)
    }
    spool.end()
    return spool
  } catch (error) {
    spool.release()
    throw error
  }
}
