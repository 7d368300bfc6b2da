// The trace of one build: the output of its scripts and the lines of the runner, masked, sent in batches.
import { Masker } from './mask.js'

export interface TraceOptions {
  readonly secrets: readonly string[]
  /** Maximum bytes that the scripts may write. */
  readonly limit: number
  readonly write: (chunk: Buffer) => Promise<void>
  readonly onLimit: () => void
  /** Called once, when a write has failed. The trace writes nothing after that. */
  readonly onFailure: (error: unknown) => void
}

/** The line that ends the trace of a build with too much output. */
export const tooMuchOutput = (limit: number) =>
  `ERROR: the output is longer than ${limit} bytes (runner.output_limit); the build stops`

const PAUSE = 50
const BATCH = 16_384
const MOST_WAITING = 65_536
const NEWLINE = Buffer.from('\n')

/**
 * Collects, masks and sends output. `close` sends the rest. It keeps the possible start of a secret back until more output shows
 * what it is, however long a script pauses: a script could print a secret in two halves. So the last bytes of a line without an
 * end may come late.
 */
export class Trace {
  readonly #options: TraceOptions
  readonly #masker: Masker
  #waiting: Buffer[] = []
  #size = 0
  #sending: Promise<void> | undefined
  #sent = 0
  #timer: NodeJS.Timeout | undefined
  #written = 0
  #full = false
  #failed = false
  #lineOpen = false

  constructor(options: TraceOptions) {
    this.#options = options
    this.#masker = new Masker(options.secrets)
  }

  /** Writes a line of the runner. The line begins on a new line and does not count towards the limit. */
  line(text: string): void {
    this.#push(this.#masker.release())
    if (this.#lineOpen) this.#push(NEWLINE)
    this.#push(this.#masker.mask(Buffer.from(`${text}\n`)))
    this.#push(this.#masker.release())
  }

  /** Writes output of a script. Resolves when there is room for more. It drops output above the limit. Never rejects. */
  async output(chunk: Buffer): Promise<void> {
    if (this.#full || this.#failed) return
    const room = this.#options.limit - this.#written
    this.#written += chunk.length
    this.#push(this.#masker.mask(chunk.subarray(0, room)))
    if (chunk.length > room) return this.#overflow()
    while (this.#size > MOST_WAITING && !this.#failed) await this.#send()
  }

  /** Sends the rest. */
  async close(): Promise<void> {
    this.#push(this.#masker.release())
    while (this.#size > 0 && !this.#failed) await this.#send()
    clearTimeout(this.#timer)
    await this.#sending
  }

  /** Ends the output at the limit. The limit may cut a secret in two, so this also hides the beginning of a secret. */
  #overflow(): void {
    this.#full = true
    this.#push(this.#masker.release(true))
    this.line(tooMuchOutput(this.#options.limit))
    this.#options.onLimit()
  }

  #push(bytes: Buffer): void {
    if (bytes.length === 0 || this.#failed) return
    this.#lineOpen = bytes.at(-1) !== NEWLINE[0]
    this.#waiting.push(bytes)
    this.#size += bytes.length
    if (this.#sending) return
    const rest = this.#size >= BATCH ? 0 : this.#sent + PAUSE - Date.now()
    if (rest <= 0) void this.#send()
    else this.#timer ??= setTimeout(() => void this.#send(), rest)
  }

  /** Sends one batch at a time, so that the writes arrive in order. */
  #send(): Promise<void> {
    this.#sending ??= this.#sendBatch().finally(() => {
      this.#sending = undefined
      if (this.#size > 0) this.#timer ??= setTimeout(() => void this.#send(), PAUSE)
    })
    return this.#sending
  }

  async #sendBatch(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const bytes = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#size = 0
    if (bytes.length === 0) return
    try {
      await this.#options.write(bytes)
    } catch (error) {
      this.#failed = true
      this.#waiting = []
      this.#size = 0
      this.#options.onFailure(error)
    }
    this.#sent = Date.now()
  }
}
