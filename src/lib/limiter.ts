// Every scarce resource has a limiter: git processes, memory, threads, database connections, merges into a branch. Its
// options specify the capacity, how much of it one client may have, how many requests may wait, and for how long
// (docs/develop/architecture.md).
import { FairLine } from './fair-line.js'

/** The units that all requests with one key may hold together. */
export type Quota = readonly [key: string, most: number]

export interface LimiterRequest {
  /**
   * The units are shared fairly among clients: an address, a user, a branch. The limits of a client do not apply to
   * requests without a client.
   */
  readonly client?: string
  /** The number of units; the default is 1. */
  readonly cost?: number
  /** Ends the wait when it aborts. */
  readonly signal?: AbortSignal
}

type Amount = number | (() => number)

/** A request always gets its units when nothing else is held, even if it costs more than the limit. */
export interface LimiterOptions<Request extends LimiterRequest> {
  /** The units of all requests together; the default is no limit. Cheaper requests do not overtake a request that waits for capacity. */
  readonly capacity?: Amount
  /** The units of one client. */
  readonly perClient?: Amount
  /** Other limits, instead of `perClient`. */
  readonly quotas?: (request: Request) => readonly Quota[]
  /** Decides which request starts first, of all requests that could start. Without it, the clients take turns. */
  readonly order?: (a: Request, b: Request) => number
  readonly queue?: {
    /** The number of requests that may wait. */
    readonly capacity?: Amount
    /** Returns the number of requests of one client that may wait, while `free` places are left. */
    readonly perClient?: (free: number) => number
    /** Creates the error for a request that finds no place. */
    readonly full: (limit: 'capacity' | 'perClient') => Error
  }
  readonly patience?: {
    readonly milliseconds: Amount
    /** Creates the error for a request that has waited too long. `since` is a time of `performance.now()`. */
    readonly over: (since: number) => Error
  }
  /** Called when a request has begun to wait. */
  readonly onWait?: (request: Request) => void
}

export type Release = () => void

interface Waiter<Request> {
  readonly request: Request
  readonly arrival: number
  readonly start: (release: Release) => void
}

const NONE: readonly Quota[] = []
const amount = (given: Amount = Number.POSITIVE_INFINITY) => (typeof given === 'number' ? given : given())
const hasRoom = (held: number, cost: number, most: number) => held === 0 || held + cost <= most

/** A semaphore with fair turns. Every limit is looked up again for each request, so that options may follow the configuration. */
export class Limiter<Request extends LimiterRequest = LimiterRequest> {
  readonly #line = new FairLine<Waiter<Request>>()
  readonly #units = new Map<string, number>()
  #held = 0
  #arrivals = 0

  constructor(private readonly options: LimiterOptions<Request>) {}

  /** The units that are held now. */
  get held(): number {
    return this.#held
  }

  /** The number of requests that wait. */
  get queued(): number {
    return this.#line.length
  }

  /** Returns the units that are held by the requests with this key, which is a client when there are no `quotas`. */
  heldBy(key: string): number {
    return this.#units.get(key) ?? 0
  }

  /** Returns whether a request would get its units immediately if `without` released its own. */
  wouldStart(request: Request, without: Request): boolean {
    const quotas = this.#quotas(without)
    this.#add(quotas, -(without.cost ?? 1))
    const would = this.#room(request) !== undefined
    this.#add(quotas, without.cost ?? 1)
    return would
  }

  /** Returns a function that releases the units, which may be called twice, or undefined when the request would have to wait. */
  tryAcquire(request: Request): Release | undefined {
    const quotas = this.#mayPass(request) ? this.#room(request) : undefined
    return quotas && this.#hold(request, quotas)
  }

  /**
   * Waits for the units of the request, and returns a function that releases them. Throws the errors of `queue` and
   * `patience`, and the reason of the signal when the signal aborts before.
   */
  acquire(request: Request): Promise<Release> {
    return new Promise((resolve, reject) => {
      request.signal?.throwIfAborted()
      const release = this.tryAcquire(request)
      if (release) resolve(release)
      else this.#wait(request, resolve, reject)
    })
  }

  /** Does the work while the units of the request are held. */
  async run<T>(request: Request, work: () => T | Promise<T>): Promise<T> {
    request.signal?.throwIfAborted()
    const release = this.tryAcquire(request) ?? (await this.acquire(request))
    try {
      return await work()
    } finally {
      release()
    }
  }

  /** Returns whether no other request is already waiting for the same units. */
  #mayPass({ client = '' }: Request): boolean {
    if (this.#line.length === 0 || this.options.order) return true
    if (this.#line.lengthOf(client) > 0) return false
    for (const { request } of this.#line.heads()) if (!this.#hasCapacity(request)) return false
    return true
  }

  #hasCapacity({ cost = 1 }: LimiterRequest): boolean {
    return hasRoom(this.#held, cost, amount(this.options.capacity))
  }

  /** Returns the quotas of a request that has room in all of them, otherwise undefined. */
  #room(request: Request): readonly Quota[] | undefined {
    if (!this.#hasCapacity(request)) return undefined
    const quotas = this.#quotas(request)
    for (const [key, most] of quotas) if (!hasRoom(this.heldBy(key), request.cost ?? 1, most)) return undefined
    return quotas
  }

  #quotas(request: Request): readonly Quota[] {
    const { quotas, perClient } = this.options
    if (quotas) return quotas(request)
    return perClient === undefined || !request.client ? NONE : [[request.client, amount(perClient)]]
  }

  #add(quotas: readonly Quota[], units: number): void {
    this.#held += units
    for (const [key] of quotas) {
      const held = this.heldBy(key) + units
      if (held === 0) this.#units.delete(key)
      else this.#units.set(key, held)
    }
  }

  #hold({ cost = 1 }: Request, quotas: readonly Quota[]): Release {
    this.#add(quotas, cost)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#add(quotas, -cost)
      this.#startWaiting()
    }
  }

  #wait(request: Request, start: (release: Release) => void, fail: (reason: unknown) => void): void {
    const { client = '', signal } = request
    const { patience, onWait } = this.options
    this.#requirePlace(client)
    const since = performance.now()
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    const leave = (reason: unknown) => {
      end()
      this.#line.remove(client, waiter)
      fail(reason)
      // This request may have been the one that the others waited behind.
      this.#startWaiting()
    }
    const abort = () => leave(signal?.reason)
    const waiter: Waiter<Request> = {
      request,
      arrival: this.#arrivals++,
      start: release => {
        end()
        start(release)
      }
    }
    const timer = patience && setTimeout(() => leave(patience.over(since)), amount(patience.milliseconds))
    signal?.addEventListener('abort', abort, { once: true })
    this.#line.add(client, waiter)
    onWait?.(request)
  }

  #requirePlace(client: string): void {
    const { queue } = this.options
    if (!queue) return
    const free = amount(queue.capacity) - this.#line.length
    const isShareFull = client !== '' && queue.perClient && this.#line.lengthOf(client) >= queue.perClient(free)
    if (isShareFull) throw queue.full('perClient')
    if (free <= 0) throw queue.full('capacity')
  }

  #startWaiting(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      this.#line.take(next.request.client ?? '', next)
      next.start(this.#hold(next.request, this.#quotas(next.request)))
    }
  }

  #next(): Waiter<Request> | undefined {
    if (this.#line.length === 0 || this.#held >= amount(this.options.capacity)) return undefined
    const { order } = this.options
    if (order) {
      const ready = [...this.#line].filter(({ request }) => this.#room(request))
      return ready.sort((a, b) => order(a.request, b.request) || a.arrival - b.arrival)[0]
    }
    for (const waiter of this.#line.heads()) {
      if (this.#room(waiter.request)) return waiter
      if (!this.#hasCapacity(waiter.request)) return undefined
    }
    return undefined
  }
}
