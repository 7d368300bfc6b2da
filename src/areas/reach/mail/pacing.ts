// Sends one mail at a time in each process, and none while the mail server rests.
import { forgetWithPool } from '../../../db/connect/connection.js'
import { Limiter } from '../../../lib/limiter.js'

/** Seconds. */
const LONGEST_REST = 300

const turns = new Limiter({ capacity: 1 })
let failures = 0
let until = 0

forgetWithPool(() => noteServer(true))

/** Calls `work` when all earlier work has ended. */
export const inTurn = <T>(work: () => Promise<T>): Promise<T> => turns.run({}, work)

/** Returns until when the server rests because it did not respond; null when it may be contacted. */
export const restingUntil = (): Date | null => (Date.now() < until ? new Date(until) : null)

/** Records whether the server responded. Each failure in a row makes the rest longer, so that other mails need not wait for it too. */
export function noteServer(talked: boolean): void {
  failures = talked ? 0 : failures + 1
  until = talked ? 0 : Date.now() + Math.min(2 ** failures, LONGEST_REST) * 1000
}
