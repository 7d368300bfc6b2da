// Limits how many git processes run at the same time, in total and for one repository. The others wait in one line. The
// first in line whose repository has room starts first.
import { config } from '../config.js'
import { Unavailable } from '../errors.js'

export interface SlotRequest {
  readonly repository?: string
  /** Set for a process that lasts as long as its client wishes, such as a clone. */
  readonly long?: boolean
  readonly signal?: AbortSignal
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
const waiting: Waiter[] = []

// Slow clients hold their slot for minutes, so a quarter of the slots is reserved for calls that end by themselves.
const longLimit = (limit: number) => (limit > 1 ? limit - Math.ceil(limit / 4) : limit)

function fits(count: Count, limit: number, long: boolean): boolean {
  return count.all < limit && (!long || count.long < longLimit(limit))
}

function mayStart({ repository, long = false }: SlotRequest): boolean {
  const limits = config().git
  if (!fits(total, limits.max_processes, long)) return false
  const own = repository === undefined ? undefined : perRepository.get(repository)
  return own === undefined || fits(own, limits.max_processes_per_repository, long)
}

/**
 * Waits for a slot and returns the function that frees it; a second call of that function does nothing. Throws
 * Unavailable when too many callers wait.
 */
export async function takeSlot(request: SlotRequest): Promise<() => void> {
  request.signal?.throwIfAborted()
  if (mayStart(request)) return occupy(request)
  if (waiting.length >= config().git.max_waiting) throw new Unavailable('Too many git operations are waiting')
  await turn(request)
  return release(request)
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
  for (let index = 0; index < waiting.length; ) {
    const waiter = waiting[index]
    if (!waiter || !mayStart(waiter)) {
      index++
      continue
    }
    waiting.splice(index, 1)
    waiter.start()
  }
}

function add({ repository, long }: SlotRequest, by: 1 | -1): void {
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
