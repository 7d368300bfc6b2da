// Slows down deliveries to a receiver that keeps failing, without losing any: after several consecutive failures its
// hook rests, and each further failure makes the rest longer.
import { execute, row } from '../../../db/connect/sql.js'
import { hastenJobs } from '../../../queue/administer.js'

/** Consecutive failures after which a hook rests, so that its deliveries do not delay those of other hooks. */
const PATIENCE = 5
/** Seconds. */
const LONGEST_REST = 600

/**
 * Returns when a resting hook may be tried again, or null when the caller may try now. After a rest only one delivery
 * at a time tries. A delivery that a sysadmin requested at `requestedAt` is sent at once, unless the rest began later:
 * when hundreds are requested, the first failures make the others wait.
 */
export async function restingUntil(hookId: number, requestedAt: Date | null): Promise<Date | null> {
  const now = new Date()
  const hook = await row<{ failures: number; resting_until: Date | null; rested_at: Date | null }>(
    'select failures, resting_until, rested_at from hooks where id = ?',
    [hookId]
  )
  if (!hook?.resting_until || hook.failures < PATIENCE) return null
  if (requestedAt && hook.rested_at && hook.rested_at <= requestedAt) return null
  if (hook.resting_until > now) return hook.resting_until
  const until = new Date(now.getTime() + 15_000)
  const { affectedRows } = await execute('update hooks set resting_until = ? where id = ? and resting_until = ?', [
    until,
    hookId,
    hook.resting_until
  ])
  return affectedRows === 1 ? null : until
}

/**
 * Records the result of an attempt. Attempts that started before the rest began fail for the same reason, so they do
 * not make the rest longer.
 */
export async function noteHealth(
  { id: hookId, lane }: { readonly id: number; readonly lane: number },
  delivered: boolean,
  startedAt: Date
): Promise<void> {
  if (delivered) {
    const { affectedRows } = await execute(
      'update hooks set failures = 0, resting_until = null, rested_at = null where id = ? and failures > 0',
      [hookId]
    )
    // The receiver responds again.
    if (affectedRows > 0) await hastenJobs('hooks', lane)
    return
  }
  const { affectedRows } = await execute(
    'update hooks set failures = failures + 1 where id = ? and (rested_at is null or rested_at < ?)',
    [hookId, startedAt]
  )
  if (affectedRows === 0) return
  const hook = await row<{ failures: number }>('select failures from hooks where id = ?', [hookId])
  const failures = hook?.failures ?? 0
  if (failures < PATIENCE) return
  const now = new Date()
  const rest = Math.min(2 ** (failures - PATIENCE) * 5, LONGEST_REST)
  await execute('update hooks set resting_until = ?, rested_at = ? where id = ?', [
    new Date(now.getTime() + rest * 1000),
    now,
    hookId
  ])
}
