// What stays of a deleted user's work names nobody any more. Its readers look for the user and find none, so nothing
// waits for this.
import { deleteInBatches, execute, row } from '../../db/sql.js'

/** Rows that are looked at by one statement: there is no index of users, as only this would ask it. */
const RANGE = 10_000

/** Takes the number of a deleted user out of pipelines, builds and ref changes; what the user did leaves the feed. */
export async function forgetUser(userId: number, signal: AbortSignal): Promise<void> {
  for (const table of ['pipelines', 'builds', 'ref_changes'] as const) await forgetIn(table, userId, signal)
  await deleteInBatches('delete from activity_events where author_id = ?', [userId], () => signal.throwIfAborted())
}

async function forgetIn(table: string, userId: number, signal: AbortSignal): Promise<void> {
  const found = await row<{ least: number | null; most: number | null }>(
    `select min(id) as least, max(id) as most from ${table}`
  )
  if (!found?.least || !found.most) return
  for (let from = found.least; from <= found.most; from += RANGE) {
    signal.throwIfAborted()
    await execute(`update ${table} set user_id = null where id >= ? and id < ? and user_id = ?`, [
      from,
      from + RANGE,
      userId
    ])
  }
}
