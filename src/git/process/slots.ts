// Limits how many git processes run at the same time: in total, by memory, for one repository and for one client. Other
// requests wait in one queue. The request whose client has the fewest processes starts first, then the one whose
// repository has the fewest, then the first in the queue.
import { config } from '../../config.js'
import { Unavailable } from '../../errors.js'
import { Limiter, type LimiterRequest, type Quota, type Release } from '../../lib/limiter.js'
import { mostAtOnce } from './limits.js'

export interface SlotRequest extends LimiterRequest {
  readonly repository?: string
  /** Set for a process that lasts as long as its client needs, such as a clone. Each client has a limited share of these. */
  readonly long?: boolean
}

/** For a process that is only useful while nobody else needs its slot. */
export interface EarlySlotRequest extends SlotRequest {
  /** Ends the process, because another request waits for its slot. */
  readonly giveUp: () => void
}

const ofClient = ({ client = '' }: SlotRequest) => `client ${client}`
const ofRepository = ({ repository = '' }: SlotRequest) => `repository ${repository}`

const slots: Limiter<SlotRequest> = new Limiter({
  capacity: () => config().git.max_processes,
  quotas: request => (request.long ? longQuotas(request) : shortQuotas(request)),
  order: (a, b) =>
    slots.heldBy(ofClient(a)) - slots.heldBy(ofClient(b)) ||
    slots.heldBy(ofRepository(a)) - slots.heldBy(ofRepository(b)),
  queue: {
    capacity: () => config().git.max_waiting,
    perClient: free => free,
    full: () => new Unavailable('Too many git operations are waiting')
  },
  onWait: makeWay
})

/** Slow clients hold their slot for minutes, so a quarter of the slots is reserved for processes that do not wait for a client. */
const longLimit = (limit: number) => (limit > 1 ? limit - Math.ceil(limit / 4) : limit)

/**
 * A client or a repository must leave as many slots free as it has: when there is only one, it gets half of them, and
 * the next one always finds a free slot.
 */
function longQuotas(request: SlotRequest): Quota[] {
  const { max_processes: most, max_processes_per_repository: mostOfOne } = config().git
  const mostLong = mostAtOnce('long', longLimit(most))
  const share = request.client === undefined ? mostLong : mostLong - slots.heldBy('long')
  const quotas: Quota[] = [['long', mostLong]]
  if (request.client !== undefined) quotas.push([ofClient(request), share])
  if (request.repository === undefined) return quotas
  quotas.push([ofRepository(request), mostOfOne])
  return [...quotas, [`long ${ofRepository(request)}`, Math.min(longLimit(mostOfOne), share)]]
}

function shortQuotas(request: SlotRequest): Quota[] {
  const { max_processes: most, max_processes_per_repository: mostOfOne } = config().git
  const mostShort = mostAtOnce('short', most)
  const quotas: Quota[] = [['short', mostShort]]
  if (request.repository === undefined) return quotas
  const free = Math.min(mostShort - slots.heldBy('short'), most - slots.held)
  return [...quotas, [ofRepository(request), mostOfOne], [`short ${ofRepository(request)}`, free]]
}

/**
 * Waits for a slot and returns a function that frees it; calling it a second time does nothing. Throws Unavailable when
 * too many callers wait.
 */
export const takeSlot = (request: SlotRequest): Promise<Release> => slots.acquire(request)

/** The processes that may be ended for others, in the order of their start. */
const early = new Set<EarlySlotRequest>()

export interface EarlySlot {
  readonly release: Release
  /** After this call the process is no longer ended for others. */
  readonly keep: () => void
}

/** Takes a slot that is free now and that nobody waits for. Returns null when there is no such slot. */
export function takeEarlySlot(request: EarlySlotRequest): EarlySlot | null {
  const free = slots.queued === 0 && slots.tryAcquire(request)
  if (!free) return null
  early.add(request)
  const keep = () => void early.delete(request)
  return {
    keep,
    release: () => {
      keep()
      free()
    }
  }
}

/** Ends one early process when that allows a waiting request to start. */
function makeWay(request: SlotRequest): void {
  for (const other of early) {
    if (!slots.wouldStart(request, other)) continue
    early.delete(other)
    other.giveUp()
    return
  }
}

/** Returns how many git processes hold a slot and how many requests wait, for the metrics. */
export const slotCounts = () => ({ running: slots.held, waiting: slots.queued })
