// Limits how many git processes run at the same time, in total, by memory and for one repository. The others wait in one line. The
// one whose client has the fewest processes starts first, then the one whose repository has the fewest, then the first in
// line.
import { config } from '../config.js'
import { Unavailable } from '../errors.js'
import { mostAtOnce } from './limits.js'

export interface SlotRequest {
  readonly repository?: string
  /** Set for a process that lasts as long as its client wishes, such as a clone. */
  readonly long?: boolean
  /** Whom a long process works for, a user or an address: the slots are shared by client and by repository. */
  readonly client?: string
  readonly signal?: AbortSignal
}

/** For a process that is only worth its slot while nobody else wants it. */
export interface EarlySlotRequest extends SlotRequest {
  /** Ends the process, because somebody waits for its slot. */
  readonly giveUp: () => void
}

/** Goes up when a process takes a slot, and down when it ends. */
interface Count {
  all: number
  long: number
}

interface Waiter extends SlotRequest {
  readonly start: () => void
}

const total: Count = { all: 0, long: 0 }
const perRepository = new Map<string, Count>()
const perClient = new Map<string, number>()
const waiting: Waiter[] = []

// Slow clients hold their slot for minutes, so a quarter of the slots is reserved for calls that end by themselves.
const longLimit = (limit: number) => (limit > 1 ? limit - Math.ceil(limit / 4) : limit)

function fits(count: Count, limit: number, long: boolean): boolean {
  return count.all < limit && (!long || count.long < longLimit(limit))
}

/** How many long processes may run at once, by number and by memory. */
const mostLong = () => mostAtOnce('long', longLimit(config().git.max_processes))

/** How many others there may still be. */
function freeShort(): number {
  const { max_processes: most } = config().git
  return Math.min(mostAtOnce('short', most) - shortOf(total), most - total.all)
}

const shortOf = ({ all, long }: Count) => all - long

function fitsMemory(long: boolean): boolean {
  return long ? total.long < mostLong() : freeShort() > 0
}

/**
 * Leaves as many slots free as a client or a repository already has: alone it gets half of them, and whoever comes
 * next always finds one.
 */
const hasShare = (own: number, free: number) => own < Math.max(free, 1)

const longOf = (repository: string | undefined) => (repository && perRepository.get(repository)?.long) || 0
const allOf = (repository: string | undefined) => (repository && perRepository.get(repository)?.all) || 0
const ofClient = (client: string | undefined) => (client && perClient.get(client)) || 0

function mayStart({ repository, long = false, client }: SlotRequest): boolean {
  const limits = config().git
  if (!fits(total, limits.max_processes, long) || !fitsMemory(long)) return false
  const own = repository === undefined ? undefined : perRepository.get(repository)
  if (own !== undefined && !fits(own, limits.max_processes_per_repository, long)) return false
  if (!long) return own === undefined || hasShare(shortOf(own), freeShort())
  const free = mostLong() - total.long
  return client === undefined || (hasShare(ofClient(client), free) && hasShare(longOf(repository), free))
}

/** The same rule for the places in the line. */
function mayWait({ client }: SlotRequest): boolean {
  const free = config().git.max_waiting - waiting.length
  if (free <= 0) return false
  return client === undefined || hasShare(waiting.filter(waiter => waiter.client === client).length, free)
}

/**
 * Waits for a slot and returns the function that frees it; a second call of that function does nothing. Throws
 * Unavailable when too many callers wait.
 */
export async function takeSlot(request: SlotRequest): Promise<() => void> {
  request.signal?.throwIfAborted()
  if (mayStart(request)) return occupy(request)
  if (!mayWait(request)) throw new Unavailable('Too many git operations are waiting')
  await turn(request)
  return release(request)
}

/** The processes that may be ended for others; the one that came first is first. */
const early = new Set<EarlySlotRequest>()

export interface EarlySlot {
  readonly release: () => void
  /** From now on nobody may end the process for others. */
  readonly keep: () => void
}

/** Takes a slot that is free now and that nobody waits for. Returns null when there is none. */
export function takeEarlySlot(request: EarlySlotRequest): EarlySlot | null {
  if (waiting.length > 0 || !mayStart(request)) return null
  early.add(request)
  const free = occupy(request)
  const keep = () => void early.delete(request)
  return {
    keep,
    release: () => {
      keep()
      free()
    }
  }
}

/** Ends one early process when that lets somebody start who has to wait. */
function makeWay(request: SlotRequest): void {
  for (const other of early) {
    add(other, -1)
    const helps = mayStart(request)
    add(other, 1)
    if (!helps) continue
    early.delete(other)
    other.giveUp()
    return
  }
}

function turn(request: SlotRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const waiter: Waiter = {
      ...request,
      start: () => {
        request.signal?.removeEventListener('abort', leave)
        add(request, 1)
        resolve()
      }
    }
    const leave = () => {
      waiting.splice(waiting.indexOf(waiter), 1)
      reject(request.signal?.reason)
    }
    request.signal?.addEventListener('abort', leave, { once: true })
    waiting.push(waiter)
    makeWay(request)
  })
}

function occupy(request: SlotRequest): () => void {
  add(request, 1)
  return release(request)
}

function release(request: SlotRequest): () => void {
  let held = true
  return () => {
    if (!held) return
    held = false
    add(request, -1)
    startWaiting()
  }
}

function startWaiting(): void {
  for (let next = fairest(); next; next = fairest()) {
    waiting.splice(waiting.indexOf(next), 1)
    next.start()
  }
}

function fairest(): Waiter | undefined {
  let best: Waiter | undefined
  for (const waiter of waiting) if (mayStart(waiter) && (!best || isBefore(waiter, best))) best = waiter
  return best
}

function isBefore(a: Waiter, b: Waiter): boolean {
  const difference = ofClient(a.client) - ofClient(b.client)
  return difference < 0 || (difference === 0 && allOf(a.repository) < allOf(b.repository))
}

function add({ repository, long, client }: SlotRequest, by: 1 | -1): void {
  if (long && client !== undefined) {
    const own = ofClient(client) + by
    if (own > 0) perClient.set(client, own)
    else perClient.delete(client)
  }
  const counts = [total]
  if (repository !== undefined) {
    const own = perRepository.get(repository) ?? { all: 0, long: 0 }
    perRepository.set(repository, own)
    counts.push(own)
  }
  for (const count of counts) {
    count.all += by
    if (long) count.long += by
  }
  if (repository !== undefined && perRepository.get(repository)?.all === 0) perRepository.delete(repository)
}

/** Returns how many git processes hold a slot and how many requests wait, for the metrics. */
export function slotCounts(): { running: number; waiting: number } {
  return { running: total.all, waiting: waiting.length }
}
