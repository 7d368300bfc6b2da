// When a failed delivery is tried again. Twelve tries in all, spread over about a day:
//
//   after try   1     2     3      4       5       6     7     8     9     10    11      12
//   wait        5 s   30 s  2 min  10 min  30 min  1 h   2 h   4 h   5 h   5.5 h 5.75 h  give up
const waits = [5, 30, 120, 600, 1800, 3600, 7200, 14400, 18000, 19800, 20700]

/** Each wait varies by this part of it, so that what failed together does not come back together. */
const jitter = 0.2

/**
 * Seconds to wait after the try with this number (the first is 1) has failed, or null to give up. `random` gives a
 * number from 0 to 1 like Math.random. The waits sum up to 24 hours on average, and to 29 at the most.
 */
export function nextDelay(attempt: number, random: () => number): number | null {
  const wait = waits[attempt - 1]
  return wait === undefined ? null : wait * (1 - jitter + 2 * jitter * random())
}
