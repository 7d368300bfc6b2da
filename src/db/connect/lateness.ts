// Notices when this process was too busy to read the answers of the database in time. Then its time limits say nothing about the
// database.

/** Milliseconds between two looks at the clock, and by how many the next look may be late. */
const TICK = 250
const LATE = 100

let waiting = 0
let ticking: NodeJS.Timeout | undefined
let due = 0
let lately = Number.NEGATIVE_INFINITY

/** Watches while something waits for the database. Call the returned function once, at the end of the wait: an idle process has no timer. */
export function watchLateness(): () => void {
  waiting++
  ticking ??= begin()
  return leave
}

/** Returns whether the event loop of this process was late after a time of `performance.now()`. */
export function wasLate(since: number): boolean {
  look()
  return lately > since
}

function leave(): void {
  waiting--
}

function begin(): NodeJS.Timeout {
  due = performance.now() + TICK
  return setInterval(() => {
    look()
    due = performance.now() + TICK
    if (waiting > 0) return
    clearInterval(ticking)
    ticking = undefined
  }, TICK).unref()
}

function look(): void {
  const now = performance.now()
  if (ticking && now - due > LATE) lately = now
}
