// Long polling: the question of a runner that has just asked in vain stays open for some seconds. A build that comes meanwhile
// starts at once, not with the runner's next question, and runners ask more rarely. One timer looks at the queue for all of them.
import { setTimeout as sleep } from 'node:timers/promises'
import { config } from '../../../config.js'
import { lruOf } from '../../../lib/lru.js'
import { lookAtQueue } from './queue-look.js'

/** How soon a change of another process is seen. What this process changes is seen with the next look, too. */
const LOOK_MS = 100
/** Open questions of all clients together: some 20 KB each. */
const MOST = 2000
/** The share of the requests that one address may have open. */
const SHARE = 2
/** After a search in vain no question is searched for during so many times as long: a change wakes all runners at once. */
const REST = 9

/** How long a machine counts as one with several runners after two of them have asked. */
const SEVERAL_MS = 600_000

/** Who waits for the answer. */
export interface Asker {
  readonly address: string
  /** What the runner says of its machine, if anything. */
  readonly system: string
  /** Aborts when the client has gone. */
  readonly gone: AbortSignal
}

/** Searches for a build when it is the turn of the question. Undefined when nobody waits for the answer any more. */
export type InTurn = <T>(search: () => Promise<T | null>) => Promise<T | null | undefined>

interface Vain {
  readonly runner: { readonly id: number }
  readonly job: object | null
  readonly value: string
}

/** The open questions of an application. */
export class HeldQuestions {
  readonly #waiting = new Set<{ readonly value: string; readonly wake: () => void }>()
  readonly #ends = new Set<() => void>()
  readonly #addresses = new Map<string, number>()
  readonly #machines = lruOf<string, { runner: number; severalUntil: number }>(10_000)
  #timer: NodeJS.Timeout | undefined
  #turn: Promise<unknown> = Promise.resolve()
  #ended = false

  /**
   * Repeats `ask` with each change of the queue, until it gives a build or `runner.long_poll` is over. Returns its last answer, or
   * `first` when the question cannot stay open: too many do, or another runner of the machine would wait for it.
   */
  async hold<A extends Vain>(first: A, asker: Asker, ask: (turn: InTurn) => Promise<A>): Promise<A> {
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

  /** Answers all of them, and holds no more. */
  end(): void {
    this.#ended = true
    for (const end of this.#ends) end()
  }

  /** A program with several runners (entries of its config.toml) may ask for one after another. */
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
      // While the database is away, questions end with their time.
      if (this.#waiting.size > 0) await this.#look().catch(() => undefined)
      this.#timer = undefined
      if (this.#waiting.size > 0) this.#watch()
    }, LOOK_MS).unref()
  }

  async #look(): Promise<void> {
    const { value } = await lookAtQueue()
    for (const waiter of this.#waiting) if (waiter.value !== value) waiter.wake()
  }

  /** One search after another: a build that comes wakes hundreds, and the first may take it. */
  #inTurn<T>(search: () => Promise<T | null>, over: AbortSignal): Promise<T | null | undefined> {
    const turn = this.#turn.then(async () => {
      const started = performance.now()
      if (over.aborted || !(await lookAtQueue()).work) return { found: undefined, rest: 0 }
      const found = await search()
      return { found, rest: found === null ? (performance.now() - started) * REST : 0 }
    })
    this.#turn = turn.then(({ rest }) => (rest > 0 ? sleep(rest) : undefined)).catch(() => undefined)
    return turn.then(({ found }) => found)
  }
}
