// Buffers a stream between a writer and its readers, so that neither waits for the other: in memory up to a size, then in a
// temporary file. Thus a git process never waits for a slow client, and never occupies a slot while a client is slow.
import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { config } from '../../config.js'
import { Unavailable } from '../../errors.js'
import { isDiskFull } from '../../lib/disk-full.js'

export interface SpoolOptions {
  /** The bytes that stay in memory. Further bytes go to the file. */
  readonly memory: number
  /** The bytes that stay in memory once more than 1 MiB has arrived: a large spool is written in larger pieces. */
  readonly largeMemory?: number
  /** Keeps everything from the beginning for later readers. */
  readonly keep: boolean
  /** Keeps everything until `release`: the spool fails when no room is left, and stays when its last reader leaves early. */
  readonly whole?: boolean
  /** A spool with more bytes than this keeps nothing for later readers. */
  readonly mostKept?: number
}

interface Reading {
  at: number
}

const READ_SIZE = 256 * 1024
/** The maximum number of bytes of small parts that are joined. */
const PIECE = 64 * 1024
/** The size in bytes from which a spool is large. */
const LARGE = 1024 * 1024
/** Shorter pieces are joined: a client that sends single bytes must not cost a buffer for each. */
const SMALL = 4096

/** The bytes in the files of all spools of this process. */
let spooled = 0

/** Returns the bytes in the temporary files of git requests and answers, for the metrics. */
export const spooledBytes = (): number => spooled

export class Spool {
  /** Bytes written so far. */
  size = 0
  #keep: boolean
  readonly #whole: boolean
  readonly #memory: number
  readonly #largeMemory: number
  readonly #mostKept: number
  #window: Buffer[] = []
  /** The position of the first byte in memory. Everything before it is in the file, or was read by all readers. */
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
  #over: () => void = () => {}

  constructor(options: SpoolOptions) {
    const { memory, largeMemory = memory, keep, whole = false, mostKept = Number.POSITIVE_INFINITY } = options
    this.#largeMemory = largeMemory
    this.#whole = whole
    this.#memory = memory
    this.#mostKept = mostKept
    this.#keep = keep
  }

  /** Returns whether a new reader would get everything from the beginning. */
  isWhole(): boolean {
    return this.#keep && !this.#closed && this.#error === undefined
  }

  /** Returns how many bytes are in memory. */
  inMemory(): number {
    return this.size - this.#windowAt
  }

  /** Returns whether everything is written. */
  isComplete(): boolean {
    return this.#ended
  }

  /** Calls `unused` when the last reader leaves a spool that keeps nothing for later readers. */
  onUnused(unused: () => void): void {
    this.#unused = unused
  }

  /** Calls `over` when everything is written, or the writer has failed; at once when that has happened. */
  onEnd(over: () => void): void {
    if (this.#ended || this.#error) over()
    else this.#over = over
  }

  /**
   * Takes the next bytes; only one call at a time. Waits for the readers only when no disk space is left. Throws
   * Unavailable when there are also no readers to wait for, or when everything must be kept.
   */
  async write(chunk: Buffer): Promise<void> {
    this.#push(chunk)
    if (this.size > this.#mostKept) this.#keep = false
    this.#wake()
    const memory = this.size > LARGE ? this.#largeMemory : this.#memory
    while (this.inMemory() > memory && !this.#closed) {
      const lowest = this.#lowest()
      if (!this.#keep) await this.#dropRead()
      if (this.inMemory() <= memory || (await this.#store())) return
      if (this.#whole || this.#readings.size === 0)
        throw new Unavailable('No room is left for requests and answers of git clients')
      const kept = this.#keep
      this.#keep = false
      if (!kept && this.#lowest() === lowest) await this.#change()
    }
  }

  end(): void {
    this.#ended = true
    this.#over()
    this.#wake()
    this.#leaveIfUnused()
  }

  /** Makes all readers fail with this error, including later ones. */
  fail(error: Error): void {
    this.#error ??= error
    this.#keep = false
    this.#over()
    this.#wake()
    this.#leaveIfUnused()
  }

  /** Waits for the first byte, the end or a failure. Throws the failure. */
  async begun(): Promise<void> {
    while (this.size === 0 && !this.#ended && !this.#closed && !this.#error) await this.#change()
    if (this.#error && this.size === 0) throw this.#error
  }

  /** Waits until `size` bytes are written. Returns false when the spool ends or fails with fewer bytes. */
  async reaches(size: number): Promise<boolean> {
    while (this.size < size && !this.#ended && !this.#closed && !this.#error) await this.#change()
    return this.size >= size && !this.#error
  }

  /** Keeps nothing for later readers from now on. The file is deleted after the last reader. */
  release(): void {
    this.#keep = false
    this.#leaveIfUnused()
  }

  /** Returns a stream of everything that is kept, from the beginning when the spool is whole. */
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
    return stream.on('error', () => {}) // the reader gets the error, but there may be no reader left
  }

  /** Returns all bytes when they are in memory, or null when some of them are in the file. */
  small(): Buffer | null {
    return this.#windowAt === 0 ? Buffer.concat(this.#window) : null
  }

  #push(chunk: Buffer): void {
    this.size += chunk.length
    const last = this.#window.at(-1)
    if (!last || last.length + chunk.length > SMALL) this.#window.push(chunk)
    else this.#window[this.#window.length - 1] = Buffer.concat([last, chunk])
  }

  #lowest(): number {
    return Math.min(...[...this.#readings].map(({ at }) => at))
  }

  /** Drops the bytes that every reader has read. */
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

  /** Moves the bytes in memory to the file. Returns false when there is no room for them. */
  async #store(): Promise<boolean> {
    const bytes = this.inMemory()
    if (spooled + bytes > config().git.max_spooled) return false
    spooled += bytes
    this.#storing = true
    try {
      this.#file ??= await openNameless()
      await writeAll(this.#file, this.#window, this.#windowAt - this.#fileAt)
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

  /** Joins small parts: git writes a pack in pieces of 8 KB, and each would be a packet to the client. */
  #fromMemory(reading: Reading): Buffer {
    const found: Buffer[] = []
    let size = 0
    let at = this.#windowAt
    for (const part of this.#window) {
      const left = at + part.length - reading.at - size
      at += part.length
      if (left <= 0) continue
      if (size > 0 && size + left > PIECE) break
      found.push(part.subarray(part.length - left))
      size += left
    }
    const [first] = found
    if (!first) throw new Error('a reader is behind the end of its spool')
    reading.at += size
    this.#wake()
    return found.length === 1 ? first : Buffer.concat(found, size)
  }

  #change(): Promise<void> {
    return new Promise(resolve => this.#waiting.push(resolve))
  }

  #wake(): void {
    const woken = this.#waiting
    this.#waiting = []
    for (const go of woken) go()
  }

  /** Removes a reader. Without readers, the rest is not stored for later ones. */
  #leave(reading: Reading): void {
    this.#readings.delete(reading)
    if (this.#readings.size === 0 && !this.#ended && !this.#whole) this.#keep = false
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

/** Writes all parts without joining them, which would copy each byte once more. */
async function writeAll(file: FileHandle, parts: readonly Buffer[], position: number): Promise<void> {
  const bytes = parts.reduce((sum, part) => sum + part.length, 0)
  let { bytesWritten: at } = await file.writev(parts, position)
  if (at === bytes) return
  const content = Buffer.concat(parts)
  while (at < bytes) at += (await file.write(content, at, bytes - at, position + at)).bytesWritten
}

/** Opens a file and removes its name immediately: nothing is left when the process ends, however it ends. */
async function openNameless(): Promise<FileHandle> {
  const folder = join(config().home, 'tmp')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `spool-${randomBytes(8).toString('hex')}`)
  const file = await open(path, 'wx+', 0o600)
  try {
    await unlink(path)
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}
