// Reads an object to its end, also if the service breaks the connection off in the middle: the next request continues there.
import { Readable } from 'node:stream'
import type { ByteRange } from '../lib/byte-range.js'

/** Opens the rest of the object, of the same version. */
type OpenRest = (rest: ByteRange) => Promise<Readable>

const TRIES = 3

export class ResumedStream extends Readable {
  #at: number
  #breaks = 0
  #isWanted = false
  /** The connection broke while nobody was reading: a slow client must not keep the service busy. */
  #broken: Error | undefined

  /** `current` has the bytes of `range`. */
  constructor(
    private current: Readable,
    private readonly range: ByteRange,
    private readonly openRest: OpenRest
  ) {
    super()
    this.#at = range.start
    this.#follow(current)
  }

  override _read(): void {
    this.#isWanted = true
    const error = this.#broken
    this.#broken = undefined
    if (error) void this.#resume(error)
    else this.current.resume()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.current.destroy()
    done(error)
  }

  #follow(stream: Readable): void {
    this.current = stream
    let isOver = false
    const over = (error: Error) => {
      if (isOver || this.destroyed) return
      isOver = true
      stream.destroy()
      if (this.#at > this.range.end) this.push(null)
      else if (this.#isWanted) void this.#resume(error)
      else this.#broken = error
    }
    stream.on('error', over)
    stream.on('close', () => over(new Error('the object ends too early')))
    stream.on('end', () => over(new Error('the object ends too early')))
    stream.on('data', (chunk: Buffer) => {
      this.#at += chunk.length
      this.#breaks = 0
      this.#isWanted = this.push(chunk)
      if (!this.#isWanted) stream.pause()
    })
  }

  async #resume(error: Error): Promise<void> {
    if (++this.#breaks > TRIES) return void this.destroy(error)
    try {
      const rest = await this.openRest({ start: this.#at, end: this.range.end })
      if (this.destroyed) rest.destroy()
      else this.#follow(rest)
    } catch (fault) {
      this.destroy(fault as Error)
    }
  }
}
