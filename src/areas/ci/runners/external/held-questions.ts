// Long polling: the request of a runner that found no build stays open for some seconds. A build that arrives in the
// meantime starts at once, and runners poll less often. One timer checks the queue for all of them.
import { config } from '../../../../config.js'
import { Limiter } from '../../../../lib/limiter.js'
import { lruOf } from '../../../../lib/lru.js'
import { lookAtQueue } from './queue-look.js'

/** Milliseconds until a change by another process is seen. A change by this process is also seen at the next check. */
const LOOK_MS = 100
/** Open requests of all clients together: some 20 KB each. */
const MOST = 2000
/** The divisor of the requests that one address may have open. */
const SHARE = 2
/** After a search without a result, no request is searched for during this multiple of its time: a change wakes all runners at once. */
const REST = 9

/** Milliseconds for which a machine counts as one with several runners after two of them have polled. */
const SEVERAL_MS = 600_000

/** The client that waits for the response. */
export interface Asker {
  readonly address: string
  /** The runner's description of its machine, if any. */
  readonly system: string
  /** Aborts when the client disconnects. */
  readonly gone: AbortSignal
}

/** Searches for a build when it is the turn of the request. Undefined when the client no longer waits. */
export type InTurn = <T>(search: () => Promise<T | null>) => Promise<T | null | undefined>

interface Miss {
  readonly runner: { readonly id: number }
  readonly job: object | null
  readonly value: string
}

/** The open requests of an application. */
export class HeldQuestions {
  readonly #waiting = new Set<{ readonly value: string; readonly wake: () => void }>()
  readonly #ends = new Set<() => void>()
  readonly #addresses = new Map<string, number>()
  readonly #machines = lruOf<string, { runner: number; severalUntil: number }>(10_000)
  #timer: NodeJS.Timeout | undefined
  readonly #turns = new Limiter({ capacity: 1 })
  #ended = false

  /**
   * Repeats `ask` after each change of the queue, until it returns a build or `runner.long_poll` has passed. Returns the last
   * result, or `first` when the request cannot stay open: too many are open, or another runner of the machine would wait for it.
   */
  async hold<A extends Miss>(first: A, asker: Asker, ask: (turn: InTurn) => Promise<A>): Promise<A> {
    const { runner, http } = config()
    const { address, gone } = asker
    const open = this.#addresses.get(address) ?? 0
    const isFull = this.#ends.size >= MOST || open >= http.requests_per_address / SHARE
    const isAlone = this.#isAlone(asker, first.runner.id)
    if (this.#ended || isFull || !isAlone || gone.aborted || runner.long_poll === 0) return first
    const over = new AbortController()
    const end = () => over.abort()
    const timer = setTimeout(end, runner.long_poll * 1000)
    gone.addEventListener('abort', end, { once: true })
    this.#ends.add(end)
    this.#addresses.set(address, open + 1)
    try {
      let answer = first
      while (!over.signal.aborted && answer.job === null) {
        await this.#change(answer.value, over.signal)
        if (!over.signal.aborted) answer = await ask(search => this.#inTurn(search, over.signal))
      }
      return answer
    } finally {
      clearTimeout(timer)
      gone.removeEventListener('abort', end)
      this.#ends.delete(end)
      const left = (this.#addresses.get(address) ?? 1) - 1
      if (left === 0) this.#addresses.delete(address)
      else this.#addresses.set(address, left)
    }
  }

  /** Ends all open requests, and holds no more. */
  end(): void {
    this.#ended = true
    for (const end of this.#ends) end()
  }

  /** A program with several runners (entries of its config.toml) may poll for one after another. */
  #isAlone({ address, system }: Asker, runner: number): boolean {
    const key = `${address} ${system}`
    const known = this.#machines.get(key)
    const now = performance.now()
    const severalUntil = known && known.runner !== runner ? now + SEVERAL_MS : (known?.severalUntil ?? 0)
    this.#machines.set(key, { runner, severalUntil })
    return now >= severalUntil
  }

  /** Resolves when the queue no longer has this value, or `over` aborts. */
  async #change(value: string, over: AbortSignal): Promise<void> {
    let wake = () => {}
    const woken = new Promise<void>(resolve => {
      wake = resolve
    })
    const waiter = { value, wake }
    over.addEventListener('abort', wake, { once: true })
    this.#waiting.add(waiter)
    this.#watch()
    await woken
    over.removeEventListener('abort', wake)
    this.#waiting.delete(waiter)
  }

  #watch(): void {
    this.#timer ??= setTimeout(async () => {
      // While the database is unavailable, requests end when their time has passed.
      if (this.#waiting.size > 0) await this.#look().catch(() => undefined)
      this.#timer = undefined
      if (this.#waiting.size > 0) this.#watch()
    }, LOOK_MS).unref()
  }

  async #look(): Promise<void> {
    const { value } = await lookAtQueue()
    for (const waiter of this.#waiting) if (waiter.value !== value) waiter.wake()
  }

  /** Searches one after another: a new build wakes hundreds, and the first may take it. */
  async #inTurn<T>(search: () => Promise<T | null>, over: AbortSignal): Promise<T | null | undefined> {
    const release = await this.#turns.acquire({})
    const started = performance.now()
    let rest = 0
    try {
      if (over.aborted || !(await lookAtQueue()).work) return undefined
      const found = await search()
      if (found === null) rest = (performance.now() - started) * REST
      return found
    } finally {
      if (rest > 0) setTimeout(release, rest)
      else release()
    }
  }
}
