// The clocks of machines may differ by minutes. Leases and jobs use the clock of the database; this file translates a time of this
// machine into a time of the database.

import { config } from '../config.js'
import { forgetWithPool } from '../db/connect/connection.js'

/** Milliseconds by which the clock of the database is ahead of this one, when that matters; otherwise 0. */
let ahead = 0

forgetWithPool(() => {
  ahead = 0
})

/** Whether clocks differ by so much that a time of one of them is useless to the other. */
export const isWrong = (skew: number): boolean => Math.abs(skew) * 4 > config().queue.lease * 1000

/** Notes the time of the database. `before` is the time here just before the statement that returned it. */
export function noteClock(theirs: number, before: number): void {
  const now = Date.now()
  const skew = theirs < before ? theirs - before : Math.max(0, theirs - now)
  // A small difference may come from the statement itself, and a time that nobody translated is easier to follow.
  ahead = isWrong(skew) ? skew : 0
}

/** Returns a time in terms of the clock of the database. */
export const databaseTime = (time: Date): Date => (ahead === 0 ? time : new Date(time.getTime() + ahead))
