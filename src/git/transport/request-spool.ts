// Reads requests of git clients, so that no git process and no slot waits for a slow client.
import { Readable } from 'node:stream'
import { TooLarge } from '../../errors.js'
import { Spool } from './spool.js'

/** The bytes of a request that stay in memory. */
const MEMORY = 64 * 1024
/** The bytes of a large request that stay in memory. */
const LARGE_MEMORY = 512 * 1024

/** A request that is being read. */
export interface Arriving {
  /** The bytes that have arrived so far. Its readers wait for the rest. The caller releases it. */
  readonly spool: Spool
  /**
   * Settles at the end of the request. Rejects with TooLarge when the request exceeds its limit, with Unavailable when
   * no room is left, and with the error of the input when it is cut off.
   */
  readonly whole: Promise<void>
}

/** Begins to read a request of at most `limit` bytes. `excess` is the message for a larger request. */
export function readArriving(input: AsyncIterable<Buffer>, limit: number, excess: string): Arriving {
  const spool = new Spool({ memory: MEMORY, largeMemory: LARGE_MEMORY, keep: true, whole: true })
  const whole = readInto(spool, input, limit, excess)
  whole.catch(error => spool.fail(error))
  return { spool, whole }
}

async function readInto(spool: Spool, input: AsyncIterable<Buffer>, limit: number, excess: string): Promise<void> {
  // Destroying the input would cut the connection, and the client would get no answer.
  const chunks = input instanceof Readable ? input.iterator({ destroyOnReturn: false }) : input
  for await (const chunk of chunks as AsyncIterable<Buffer>) {
    if (spool.size + chunk.length > limit) throw new TooLarge(excess)
    await spool.write(chunk)
  }
  spool.end()
}

/** Reads a request to its end. The caller releases the result. Throws what `Arriving.whole` rejects with. */
export async function spoolRequest(input: AsyncIterable<Buffer>, limit: number, excess: string): Promise<Spool> {
  const { spool, whole } = readArriving(input, limit, excess)
  await whole
  return spool
}
