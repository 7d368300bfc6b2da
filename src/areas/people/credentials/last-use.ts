// Records when each user last used the appliance: with a session, a token or a password, through the API, the pages or
// git. Every request notes it in memory; the server writes new times once a minute, and each user at most once an hour.
import { forgetWithPool } from '../../../db/connect/connection.js'
import { execute } from '../../../db/connect/sql.js'
import { batches } from '../../../lib/batches.js'
import { lruOf } from '../../../lib/lru.js'
import { log } from '../../../log.js'

/** The time of a user is written again after this time. */
const AGE_MS = 3_600_000
const EVERY_MS = 60_000
/** The number of users whose time this process remembers. With more users, some are written more often. */
const MOST = 100_000
const AT_ONCE = 500

const known = lruOf<number, true>(MOST, { ttl: AGE_MS })
const waiting = new Map<number, Date>()

forgetWithPool(() => {
  known.clear()
  waiting.clear()
})

/** Notes that a user uses the appliance now. It runs no statement. */
export function noteUseOf(userId: number): void {
  if (known.has(userId) || waiting.size >= MOST) return
  known.set(userId, true)
  waiting.set(userId, new Date())
}

/** Writes the noted times. Never throws: a time that could not be written is noted again at the next use. */
export async function writeUses(): Promise<void> {
  const noted = [...waiting].sort(([one], [other]) => one - other)
  waiting.clear()
  for (const part of batches(noted, AT_ONCE)) {
    try {
      // A user who was just deleted may leave a row. It is harmless, because no other user gets the id.
      await execute(
        `insert into user_uses (user_id, last_used_at) values ${part.map(() => '(?, ?)').join(', ')}
         on duplicate key update last_used_at = greatest(last_used_at, values(last_used_at))`,
        part.flat()
      )
    } catch (error) {
      for (const [userId] of part) known.delete(userId)
      log().warn({ error: String(error) }, 'cannot write the last use of users')
    }
  }
}

/** Starts writing regularly. Returns a function that stops this and writes the rest. */
export function writeUsesRegularly(every = EVERY_MS): () => Promise<void> {
  let writing = Promise.resolve()
  const timer = setInterval(() => {
    writing = writing.then(writeUses)
  }, every)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await writing
    await writeUses()
  }
}
