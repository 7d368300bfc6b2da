// What a command needs from its client: input, output, lines for the user. A stalled client is cut off.
import { config } from '../../config.js'
import { LEAST_SENT, watch } from '../stalled-clients.js'

/** One command's connection to its client. */
export interface Exchange {
  readonly input: AsyncIterable<Buffer>
  /** Resolves when the client can take more. Rejects when the client has left. */
  readonly write: (chunk: Buffer) => Promise<void>
  /** Shows a line to the user. */
  readonly say: (line: string) => void
  /** The git protocol that the client requests, such as `version=2`. */
  readonly protocol: string | undefined
  readonly address: string
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal
  /** Whether another machine has passed on the command, so that this one must run it. */
  readonly isPassedOn?: boolean
  /** Cuts the client off. */
  readonly cut: (reason: string) => void
}

/**
 * Returns the same exchange, which cuts off a client that does not continue within `git.stall` while the server waits for
 * it, and the function that ends the watch.
 */
export function watched(exchange: Exchange): { exchange: Exchange; end: () => void } {
  let bytes = 0
  let waiting = 0
  const wait = async <T>(work: Promise<T>): Promise<T> => {
    waiting++
    try {
      return await work
    } finally {
      waiting--
    }
  }
  async function* input() {
    const chunks = exchange.input[Symbol.asyncIterator]()
    for (;;) {
      const { done, value } = await wait(Promise.resolve(chunks.next()))
      if (done) return
      bytes += value.length
      yield value
    }
  }
  const end = watch({
    bytes: () => bytes,
    waits: () => waiting > 0,
    least: LEAST_SENT,
    cut: () => exchange.cut(`the client did not continue for ${config().git.stall} s (git.stall)`)
  })
  const write = async (chunk: Buffer) => {
    await wait(exchange.write(chunk))
    // In the older versions of the protocol, git sends a few bytes now and then while it works, and waits for the client.
    bytes += Math.max(chunk.length, LEAST_SENT)
  }
  return { exchange: { ...exchange, input: input(), write }, end }
}
