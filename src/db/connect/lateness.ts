// Notices when this process was too busy to read the answers of the database in time. Then its time limits say nothing about the
// database.

/** Milliseconds between two looks at the clock, and by how many the next look may be late. */
const TICK = 250
const LATE = 100

let ticking: NodeJS.Timeout | undefined
let due = 0
let lately = Number.NEGATIVE_INFINITY

/** Begins to watch. More calls do nothing. */
export function watchLateness(): void {
  if (ticking) return
  const next = () => {
    due = performance.now() + TICK
  }
  ticking = setInterval(() => {
    look()
    next()
  }, TICK).unref()
  next()
}

/** Returns whether the event loop of this process was late after a time of `performance.now()`. */
export function wasLate(since: number): boolean {
  look()
  return lately > since
}

function look(): void {
  const now = performance.now()
  if (ticking && now - due > LATE) lately = now
}
