// Hides secrets in a stream of bytes. The mask is as long as the secret, so that offsets into a trace stay correct.

const FILLER = '*'.charCodeAt(0)
/** Shorter values are not hidden: they would hide every second word of a trace, and anyone can guess them anyway. */
const LEAST_LENGTH = 4

/** A token that began more than this many bytes ago is assumed to have ended. */
const LONGEST_TOKEN = 16_384

/** The last bytes of a stream, in which a secret may begin. */
export interface Tail {
  readonly bytes: Buffer
  /** For each byte 1 when it belongs to another secret, which is complete. */
  readonly hidden: Uint8Array
}

/**
 * Hides the given values, also when a value is split between chunks. It hides a value of several lines line by line. It also
 * hides tokens of which only the beginning is known: they continue with letters, digits and - _ .
 */
export class Masker {
  readonly #secrets: Buffer[]
  readonly #beginnings: Buffer[]
  /** The last bytes, unmasked: a secret may begin in them. */
  #kept: Buffer = Buffer.alloc(0)
  #hidden = new Uint8Array(0)
  /** How many of the kept bytes have already been returned. */
  #given = 0

  constructor(secrets: readonly string[], beginnings: readonly string[] = []) {
    this.#beginnings = beginnings.map(text => Buffer.from(text))
    const lines = new Set([...secrets, ...beginnings].flatMap(secret => secret.split(/[\r\n]+/)))
    this.#secrets = [...lines].map(line => Buffer.from(line)).filter(line => line.length >= LEAST_LENGTH)
  }

  /** Returns the bytes that may be shown after this chunk. It keeps back bytes that may be the start of a secret. */
  mask(chunk: Buffer): Buffer {
    const bytes = Buffer.concat([this.#kept, chunk])
    const hidden = new Uint8Array(bytes.length)
    hidden.set(this.#hidden)
    for (const secret of this.#secrets) hide(bytes, secret, hidden)
    const open = this.#beginnings.map(beginning => hideTokens(bytes, beginning, hidden))
    const border = bytes.length - Math.max(0, ...open, ...this.#secrets.map(secret => startAtEnd(bytes, secret)))
    const out = masked(bytes, hidden, Math.min(this.#given, border), border)
    this.#kept = Buffer.from(bytes.subarray(border))
    this.#hidden = hidden.slice(border)
    this.#given = Math.max(0, this.#given - border)
    return out
  }

  /** The bytes that are kept back. */
  get tail(): Tail {
    return { bytes: this.#kept, hidden: this.#hidden }
  }

  /** Continues a stream that another masker began. */
  resume({ bytes, hidden }: Tail): void {
    this.#kept = bytes
    this.#hidden = Uint8Array.from(hidden)
    this.#given = 0
  }

  /**
   * Returns the bytes that were kept back, all of them masked when `hide` is set. The masker still remembers them: if
   * the secret continues, it hides the rest.
   */
  release(hide = false): Buffer {
    const out = masked(this.#kept, this.#hidden, this.#given, this.#kept.length)
    this.#given = this.#kept.length
    return hide ? out.fill(FILLER) : out
  }
}

/** Returns the tail of a stream that has ended. From `least` bytes on, it hides the beginning of a secret. */
export function endOf({ bytes, hidden }: Tail, least: number): Buffer {
  return bytes.length >= least ? Buffer.alloc(bytes.length, FILLER) : masked(bytes, hidden, 0, bytes.length)
}

function hide(bytes: Buffer, secret: Buffer, hidden: Uint8Array): void {
  let end = 0
  for (let at = bytes.indexOf(secret); at >= 0; at = bytes.indexOf(secret, at + 1)) {
    hidden.fill(1, Math.max(at, end), at + secret.length)
    end = at + secret.length
  }
}

/** Returns the length of the token that may continue after the end of the bytes; 0 when there is none. */
function hideTokens(bytes: Buffer, beginning: Buffer, hidden: Uint8Array): number {
  for (let at = bytes.indexOf(beginning); at >= 0; ) {
    let end = at + beginning.length
    while (isOfToken(bytes[end])) end++
    hidden.fill(1, at, end)
    if (end === bytes.length) return end - at < LONGEST_TOKEN ? end - at : 0
    at = bytes.indexOf(beginning, end)
  }
  return 0
}

const isOfToken = (byte: number | undefined) => byte !== undefined && /[\w.-]/.test(String.fromCharCode(byte))

/** Returns the length of the longest beginning of the secret, shorter than the secret, at the end of the bytes. */
function startAtEnd(bytes: Buffer, secret: Buffer): number {
  const first = secret[0] ?? 0
  const from = Math.max(0, bytes.length - secret.length + 1)
  for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (bytes.compare(secret, 0, bytes.length - at, at) === 0) return bytes.length - at
  }
  return 0
}

function masked(bytes: Buffer, hidden: Uint8Array, from: number, to: number): Buffer {
  const out = Buffer.from(bytes.subarray(from, to))
  for (let at = 0; at < out.length; at++) if (hidden[from + at]) out[at] = FILLER
  return out
}
