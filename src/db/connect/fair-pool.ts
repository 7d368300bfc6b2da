// No client may take all connections of a pool, or others would wait until its statements end. A hundred searches of one address
// kept the statements of all others out for four seconds, which is more than their limit.
import { config } from '../../config.js'
import { TooManyRequests } from '../../errors.js'
import { Limiter, type Release } from '../../lib/limiter.js'
import { currentClient } from '../../lib/request-scope.js'
import { answeredSince } from './connectivity.js'
import { StatementTimeout, statementPatience } from './statement-limit.js'

/**
 * A client that is alone leaves this part of the connections to whoever comes: with less for it, its lists were up to a tenth
 * slower. While others ask it has half, as its statements share the processors with theirs.
 */
const LEFT = 5
const SHARED = 2
/** Milliseconds for which a client that has asked counts. */
const RECENT_MS = 1000
const RETRY_S = 2

/** The connections of one pool. Work without a client, such as a job, may use all of them. */
export class FairPool {
  readonly #limiter = new Limiter({
    perClient: () => this.#mostOfOne(),
    patience: { milliseconds: statementPatience, over: turnDidNotCome }
  })
  /** The client that asked last. */
  #last = ''
  /** Until then, by `performance.now()`, more than one client counts. */
  #sharedUntil = 0

  /** Returns the function that ends the use of one more connection; undefined when the client of the request must wait for it. */
  tryAcquire(): Release | undefined {
    const client = currentClient()
    this.#note(client)
    return this.#limiter.tryAcquire({ client })
  }

  /** Waits for it. Throws an error after the time that a statement may take. */
  acquire(): Promise<Release> {
    const client = currentClient()
    this.#note(client)
    return this.#limiter.acquire({ client })
  }

  /** Notes who asks. */
  #note(client: string): void {
    if (client === this.#last || client === '') return
    if (this.#last !== '') this.#sharedUntil = performance.now() + RECENT_MS
    this.#last = client
  }

  #mostOfOne(): number {
    const { pool } = config().database
    const left = performance.now() < this.#sharedUntil ? SHARED : LEFT
    return pool - Math.ceil(pool / left)
  }
}

/** Returns the error for work that has waited since a moment of `performance.now()`: a database that answers nobody is away. */
export function turnDidNotCome(since: number): Error {
  if (!answeredSince(since)) return new StatementTimeout()
  return new TooManyRequests(RETRY_S, 'the database still works for other requests of this address')
}
