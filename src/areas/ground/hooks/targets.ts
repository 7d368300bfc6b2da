// Keeps a dead receiver from delaying deliveries to others. The jobs of deliveries have the receiver as their lane;
// this file remembers which receivers failed last. Each worker learns that on its own, at the cost of one attempt.
import { createHash } from 'node:crypto'
import { forgetWithPool } from '../../../db/connect/connection.js'

/** Milliseconds after which a delivery gives its slot to others. */
const SLOW_AFTER = 1000
/** Waiting for a receiver needs a socket and the payload, but no processor: 40 payloads of a megabyte use little memory. */
const SLOW_FOR_EACH_SLOT = 4
const MOST_KNOWN = 10_000

const failing = new Set<number>()
forgetWithPool(() => failing.clear())

/** Returns the lane of a hook's receiver: hooks with the same host and port share it. */
export function laneOf(url: string): number {
  const target = URL.canParse(url) ? new URL(url).host : url
  // Two receivers with the same number merely share slots. 0 is the lane of jobs without one.
  return createHash('sha256').update(target).digest().readUInt32BE() || 1
}

/** Records whether a receiver answered its last delivery. */
export function noteTarget(lane: number, delivered: boolean): void {
  if (delivered) {
    failing.delete(lane)
    return
  }
  if (failing.size >= MOST_KNOWN) failing.clear()
  failing.add(lane)
}

/** Returns how the worker shares its slots for deliveries: a receiver gets half of them, a dead receiver gets one. */
export const hookLanes = (slots: number) => ({
  share: Math.max(1, Math.floor(slots / 2)),
  slowAfter: SLOW_AFTER,
  mostSlow: slots * SLOW_FOR_EACH_SLOT,
  isFailing: (lane: number) => failing.has(lane)
})

/** A mirror that waits for a slow server gives its slot to others after this many milliseconds. */
const SLOW_MIRROR_AFTER = 5000

/** Returns how the worker shares its slots for mirrors. Those that have given up their slots still have git processes. */
export const mirrorLanes = (slots: number) => ({
  share: Math.max(1, Math.floor(slots / 2)),
  slowAfter: SLOW_MIRROR_AFTER,
  mostSlow: slots,
  isFailing: (lane: number) => failing.has(lane)
})
