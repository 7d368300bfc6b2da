// No client may take all connections of a pool, or others would wait until its statements end. A hundred searches of one address
// kept the statements of all others out for four seconds, which is more than their limit.
import { config } from '../config.js'
import { TooManyRequests } from '../errors.js'
import { currentClient } from '../lib/request-scope.js'
import { answeredSince } from './presence.js'
import { StatementTimeout, statementClock } from './statement-limit.js'

/**
 * A client that is alone leaves this part of the connections to whoever comes: with less for it, its lists were up to a tenth
 * slower. While others ask it has half, as its statements share the processors with theirs.
 */
const LEFT = 5
const SHARED = 2
/** Milliseconds for which a client that has asked counts. */
const RECENT_MS = 1000
const RETRY_S = 2

interface Client {
  running: number
  readonly waiting: ((leave: () => void) => void)[]
}

/** The clients of one pool that have work there. */
export class Shares {
  readonly #clients = new Map<string, Client>()
  /** Who asked last. */
  #last = ''
  /** Until then, by `performance.now()`, more than one client counts. */
  #sharedUntil = 0

  /**
   * Calls `start` when the client of the running request may have one more connection; work for nobody starts at once. `start` gets
   * the function to call, once, at the end.
   */
  enter(start: (leave: () => void) => void): void {
    const name = currentClient()
    if (name === '') {
      start(ignore)
      return
    }
    this.#note(name)
    const client = this.#clients.get(name) ?? { running: 0, waiting: [] }
    client.waiting.push(start)
    this.#clients.set(name, client)
    this.#startNext(name, client)
  }

  /** Notes who asks. */
  #note(name: string): void {
    if (name === this.#last) return
    if (this.#last !== '') this.#sharedUntil = performance.now() + RECENT_MS
    this.#last = name
  }

  /** The same as a promise. Throws an error after the time that a statement may take. */
  entered(): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const began = performance.now()
      let late = false
      const clock = statementClock(() => {
        late = true
        reject(turnDidNotCome(began))
      })
      this.enter(leave => {
        if (late) return leave()
        clearTimeout(clock)
        resolve(leave)
      })
    })
  }

  #startNext(name: string, client: Client): void {
    while (client.waiting.length > 0 && client.running < this.#mostOfOne()) {
      client.running++
      client.waiting.shift()?.(() => {
        client.running--
        this.#startNext(name, client)
      })
    }
    if (client.running === 0) this.#clients.delete(name)
  }

  #mostOfOne(): number {
    const { pool } = config().database
    const left = performance.now() < this.#sharedUntil ? SHARED : LEFT
    return Math.max(1, pool - Math.ceil(pool / left))
  }
}

/** Returns the error for work that has waited since a moment of `performance.now()`: a database that answers nobody is away. */
export function turnDidNotCome(since: number): Error {
  if (!answeredSince(since)) return new StatementTimeout()
  return new TooManyRequests(RETRY_S, 'the database still works for other requests of this address')
}

const ignore = () => undefined
