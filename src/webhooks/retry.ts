// Decides when a failed delivery is tried again. There are twelve tries, spread over about a day:
//
//   after try   1     2     3      4       5       6     7     8     9     10    11      12
//   wait        5 s   30 s  2 min  10 min  30 min  1 h   2 h   4 h   5 h   5.5 h 5.75 h  give up
const WAITS = [5, 30, 120, 600, 1800, 3600, 7200, 14400, 18000, 19800, 20700]

/** Each wait varies by this share, so that deliveries that failed together are not tried again together. */
const JITTER = 0.2

/**
 * Returns the seconds to wait after the try with this number has failed (the first try is 1); null after the last try.
 * `random` returns a number from 0 to 1 like Math.random. The sum of all waits is 24 hours on average, and at most 29.
 */
export function nextDelay(attempt: number, random: () => number): number | null {
  const wait = WAITS[attempt - 1]
  return wait === undefined ? null : wait * (1 - JITTER + 2 * JITTER * random())
}
