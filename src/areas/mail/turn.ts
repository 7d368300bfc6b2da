// One mail at a time in each process, and none while the server of mail rests.
import { forgetWithPool } from '../../db/connection.js'

/** Seconds. */
const LONGEST_REST = 300

let last: Promise<unknown> = Promise.resolve()
let failures = 0
let until = 0

forgetWithPool(() => noteServer(true))

/** Calls `work` when all works before it have ended. */
export function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const mine = last.then(work)
  last = mine.catch(() => undefined)
  return mine
}

/** Returns until when the server rests, because it did not answer; null when it may be asked. */
export const restingUntil = (): Date | null => (Date.now() < until ? new Date(until) : null)

/** Records whether the server talked to us. Each failure in a row makes the rest longer: others need not wait for it, too. */
export function noteServer(talked: boolean): void {
  failures = talked ? 0 : failures + 1
  until = talked ? 0 : Date.now() + Math.min(2 ** failures, LONGEST_REST) * 1000
}
