// Logs when the database is lost and when it is back, once for each time.
import { log } from '../../log.js'

let state: 'unknown' | 'there' | 'lost' = 'unknown'
let since = 0
/** The time of the last answer to a statement, in terms of `performance.now()`. */
let answered = Number.NEGATIVE_INFINITY

/** Returns whether the database has answered any statement of this process after a time of `performance.now()`. */
export const answeredSince = (moment: number): boolean => answered > moment

/** Call this when a statement has failed because the database is away. Before the first answer, the database does not count as lost. */
export function noteLost(reason: string): void {
  if (state !== 'there') return
  state = 'lost'
  since = Date.now()
  log().error({ reason }, 'the database is lost')
}

/** Call this when the database has answered a statement. */
export function noteAnswer(): void {
  answered = performance.now()
  if (state === 'there') return
  if (state === 'lost') log().warn({ away_ms: Date.now() - since }, 'the database is back')
  state = 'there'
}
