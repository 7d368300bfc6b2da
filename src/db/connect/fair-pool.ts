// No client may take all connections of a pool, because others would have to wait until its statements end. A hundred
// searches from one address blocked the statements of all others for four seconds, which is more than their limit.
import { config } from '../../config.js'
import { TooManyRequests } from '../../errors.js'
import { Limiter, type Release } from '../../lib/limiter.js'
import { currentClient } from '../../lib/request-scope.js'
import { answeredSince } from './connectivity.js'
import { StatementTimeout, statementPatience } from './statement-limit.js'

/**
 * While no other client is active, a client must leave a fifth of the connections free for others; when it had to leave
 * more, its lists were up to a tenth slower. While others are active, it must leave half of them, because its statements
 * share the processors with theirs.
 */
const LEFT = 5
const SHARED = 2
/** Milliseconds for which a client counts as active after a statement. */
const RECENT_MS = 1000
const RETRY_S = 2

/** The connections of one pool. Work without a client, such as a job, may use all of them. */
export class FairPool {
  readonly #limiter = new Limiter({
    perClient: () => this.#mostOfOne(),
    patience: { milliseconds: statementPatience, over: turnDidNotCome }
  })
  /** The last client that requested a connection. */
  #last = ''
  /** Until this time, by `performance.now()`, more than one client is active. */
  #sharedUntil = 0

  /** Returns a function that ends the use of one more connection, or undefined when the client of the request must wait. */
  tryAcquire(): Release | undefined {
    const client = currentClient()
    this.#note(client)
    return this.#limiter.tryAcquire({ client })
  }

  /** Waits for a connection. Throws an error after the time that a statement may take. */
  acquire(): Promise<Release> {
    const client = currentClient()
    this.#note(client)
    return this.#limiter.acquire({ client })
  }

  /** Records the client that requests a connection. */
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

/** Returns the error for work that has waited since a time of `performance.now()`: a database that answers nobody is away. */
export function turnDidNotCome(since: number): Error {
  if (!answeredSince(since)) return new StatementTimeout()
  return new TooManyRequests(RETRY_S, 'the database is still busy with other requests from this address')
}
