// With a replica (db/connect/replica.ts), some lists may be a few seconds old, but never without what the user has just changed. Each
// request that may change something notes its user, for all servers, and the user reads from the writing server for some seconds.
import { forgetWithPool } from '../../../../db/connect/connection.js'
import { hasReplica, ownWriteSeconds } from '../../../../db/connect/replica.js'
import { execute, row } from '../../../../db/connect/sql.js'
import { lruOf } from '../../../../lib/lru.js'
import { log } from '../../../../log.js'

/** Milliseconds for which this process does not note the same user again. */
const AGAIN_MS = 1000

/** When this process noted users, by `performance.now()`. */
const noted = lruOf<number, number>(10_000)
forgetWithPool(() => noted.clear())

/** Notes that a user is about to change something. Does nothing without a replica. */
export async function noteWriteOf(userId: number | null | undefined): Promise<void> {
  if (!hasReplica() || userId === null || userId === undefined) return
  const now = performance.now()
  if (now - (noted.get(userId) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return
  await execute(
    `insert into user_uses (user_id, last_used_at, written_at) values (?, now(3), now(3))
     on duplicate key update written_at = values(written_at)`,
    [userId]
  )
  noted.set(userId, now)
}

/** Notes that a user has changed something, when the note from before may be too old. Never throws: the change is done. */
export async function noteDoneWriteOf(userId: number | null | undefined): Promise<void> {
  try {
    await noteWriteOf(userId)
  } catch (error) {
    log().warn({ error: String(error) }, 'a write could not be noted')
    if (typeof userId === 'number') noted.set(userId, performance.now())
  }
}

/** Returns whether a user has changed something, at any server, so lately that the replica may not have it. */
export async function hasWrittenLately(userId: number): Promise<boolean> {
  const seconds = ownWriteSeconds()
  const here = noted.get(userId)
  if (here !== undefined && performance.now() - here < seconds * 1000) return true
  const found = await row('select 1 from user_uses where user_id = ? and written_at > now(3) - interval ? second', [
    userId,
    seconds
  ])
  return found !== undefined
}
