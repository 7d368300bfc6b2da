// Finds the end of the message of a git client on a connection that stays open: a list of packets ends with a flush,
// and a pack ends with the hash of its bytes.
import { createHash } from 'node:crypto'
import { ZERO } from '../refs/refs.js'
import { BadProtocol, takePackets } from './pkt-line.js'
import { HEAD_LIMIT, hasPushOptions, tooManyChanges } from './receive.js'

const LONGEST = 65_520

/** Finds the flush that ends a list of packets, in chunks as they arrive. */
export class FlushFinder {
  /** The number of bytes of the current packet that are still missing. */
  #left = 0
  #digits = ''

  /**
   * Takes the next chunk. Returns how many of its bytes belong to the list, including its flush, or undefined when the
   * list continues. Throws BadProtocol.
   */
  take(chunk: Buffer): number | undefined {
    for (let at = 0; at < chunk.length; ) {
      if (this.#left > 0) {
        const part = Math.min(this.#left, chunk.length - at)
        this.#left -= part
        at += part
        continue
      }
      const part = chunk.toString('latin1', at, at + 4 - this.#digits.length)
      this.#digits += part
      at += part.length
      if (this.#digits.length < 4) return undefined
      const length = /^[0-9a-f]{4}$/i.test(this.#digits) ? Number.parseInt(this.#digits, 16) : -1
      this.#digits = ''
      if (length === 0) return at
      if (length < 0 || length > LONGEST || length === 3) throw new BadProtocol('not a line of the git protocol')
      // 0001 and 0002 are markers without content.
      this.#left = Math.max(length - 4, 0)
    }
    return undefined
  }
}

/** The bytes of the hash at the end of a pack. */
const HASH = 20

/** Finds the end of a pack: its last 20 bytes are the SHA-1 of all bytes before them. */
class PackEnd {
  readonly #hash = createHash('sha1')
  #tail: Buffer = Buffer.alloc(0)

  /** Takes the next chunk. Returns true when the pack ends with it. */
  take(chunk: Buffer): boolean {
    const last = chunk.length >= HASH ? chunk : Buffer.concat([this.#tail, chunk])
    if (last === chunk) this.#hash.update(this.#tail)
    const from = Math.max(last.length - HASH, 0)
    this.#hash.update(last.subarray(0, from))
    // A copy, because the chunk may be part of a large buffer.
    this.#tail = Buffer.from(last.subarray(from))
    return this.#tail.length === HASH && this.#hash.copy().digest().equals(this.#tail)
  }
}

/** Reads a stream in parts, such as one list of packets. */
export interface PacketSource {
  /** Returns the next bytes, or null at the end. */
  readonly next: () => Promise<Buffer | null>
  /** Puts back bytes that belong to the next part. */
  readonly giveBack: (rest: Buffer) => void
}

export function packetSource(input: AsyncIterable<Buffer>): PacketSource {
  const chunks = input[Symbol.asyncIterator]()
  let kept: Buffer | null = null
  return {
    next: async () => {
      const given = kept
      kept = null
      if (given) return given
      const { done, value } = await chunks.next()
      return done ? null : value
    },
    giveBack: rest => {
      kept = rest.length > 0 ? rest : null
    }
  }
}

/**
 * Passes on the packets up to the next flush. Yields nothing at the end of the input. Throws BadProtocol when the input
 * ends within the list.
 */
export async function* upToFlush(source: PacketSource): AsyncGenerator<Buffer> {
  const finder = new FlushFinder()
  for (let isFirst = true; ; isFirst = false) {
    const chunk = await source.next()
    if (chunk === null) {
      if (isFirst) return
      throw new BadProtocol('the request is incomplete')
    }
    const end = finder.take(chunk)
    yield end === undefined ? chunk : chunk.subarray(0, end)
    if (end === undefined) continue
    source.giveBack(chunk.subarray(end))
    return
  }
}

/**
 * Passes on the pack of a push. Many clients keep the connection open afterwards, so the pack itself determines the
 * end. Throws BadProtocol when the input ends before the pack does.
 */
async function* upToPackEnd(source: PacketSource): AsyncGenerator<Buffer> {
  const pack = new PackEnd()
  for (;;) {
    const chunk = await source.next()
    if (chunk === null) throw new BadProtocol('the push is incomplete')
    yield chunk
    if (pack.take(chunk)) return
  }
}

/** Returns one push, or null when the client changes nothing. Throws BadProtocol, TooLarge. */
export async function readPush(input: AsyncIterable<Buffer>): Promise<AsyncIterable<Buffer> | null> {
  const source = packetSource(input)
  const text = await readList(source)
  const { packets } = takePackets(text)
  if (packets.every(({ content }) => content === null)) return null
  const head = hasPushOptions(packets) ? [text, await readList(source)] : [text]
  return packets.some(({ content }) => setsRef(content)) ? chain(head, upToPackEnd(source)) : chain(head)
}

async function readList(source: PacketSource): Promise<Buffer> {
  const list: Buffer[] = []
  let size = 0
  for await (const chunk of upToFlush(source)) {
    list.push(chunk)
    size += chunk.length
    if (size > HEAD_LIMIT) throw tooManyChanges()
  }
  return Buffer.concat(list)
}

/** Returns whether a command of a push sets a ref to a value: then a pack follows. */
const setsRef = (command: Buffer | null) =>
  command !== null && /^[0-9a-f]{40} (?!0{40})[0-9a-f]{40} /.test(command.toString('latin1', 0, 2 * ZERO.length + 2))

async function* chain(...parts: (Iterable<Buffer> | AsyncIterable<Buffer>)[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield* part
}
