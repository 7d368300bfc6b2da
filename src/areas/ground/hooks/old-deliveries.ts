import { config } from '../../../config.js'
import { row, rows } from '../../../db/connect/sql.js'
import { deleteRows } from '../../../db/ownership/owned-rows.js'
import { enqueuedPayloads } from '../../../queue/metrics.js'
import { daysAgo, type Task, type TaskContext } from '../../../queue/task.js'
import { archiveOld } from '../records/archive-old.js'
import { deliverySource } from './archived-deliveries.js'
import { cancelDeliveries } from './deliveries.js'

/** Payloads and responses are the largest rows. A month is enough to find out why a receiver missed an event. */
const KEPT_DAYS = 30
const BATCH = 500
/** All attempts at a delivery end within 29 hours, and it waits at most a day for a resting hook. */
const LATE_DAYS = 3
const MOST = 10_000
const OVER = "state in ('delivered', 'dead', 'canceled') and created_at < ?"

export const oldDeliveries: Task = {
  name: 'old_deliveries',
  schedule: '37 3 * * *',
  about: `removes finished hook deliveries that are older than ${KEPT_DAYS} days, with their attempts, or moves them into compressed files (\`archive.deliveries\`), and cancels those that cannot be sent any more`,
  run: async context => {
    const archived = await archiveOld(deliverySource, context)
    await removeDeliveries(context, daysAgo(KEPT_DAYS))
    // This runs last, so that these deliveries stay visible until the next run.
    return { ...archived, forsaken: await endForsaken(context) }
  }
}

/**
 * Cancels the deliveries that cannot be sent any more: their hook is removed, or their job was lost long ago. Otherwise
 * they would stay pending forever. Returns how many.
 */
async function endForsaken({ dryRun }: TaskContext): Promise<number> {
  const late = await rows<{ id: number; hook: number | null }>(
    `select d.id, h.id as hook from hook_deliveries d left join hooks h on h.id = d.hook_id
     where d.state = 'pending' and (d.created_at < ? or h.id is null) order by d.id limit ${MOST}`,
    [daysAgo(LATE_DAYS)]
  )
  if (late.length === 0) return 0
  // Read after the rows: a delivery that ended in the meantime has no job, but is not pending any more.
  const waiting = await enqueuedPayloads('hook.deliver')
  const forsaken = late.filter(({ id, hook }) => hook === null || !waiting.has(JSON.stringify({ deliveryId: id })))
  if (!dryRun) await cancelDeliveries(forsaken.map(({ id }) => ({ deliveryId: id })))
  return forsaken.length
}

/** The archive keeps the deliveries of hooks that exist. */
async function removeDeliveries({ dryRun, signal, count }: TaskContext, before: Date): Promise<undefined> {
  const where =
    config().archive.deliveries === null
      ? OVER
      : `${OVER} and not exists (select 1 from hooks h where h.id = hook_deliveries.hook_id)`
  if (dryRun) {
    const found = await row<{ total: number }>(`select count(*) as total from hook_deliveries where ${where}`, [before])
    count(Number(found?.total ?? 0))
    return
  }
  for (;;) {
    signal.throwIfAborted()
    const old = await rows<{ id: number }>(`select id from hook_deliveries where ${where} limit ${BATCH}`, [before])
    if (old.length === 0) return
    await deleteRows(
      'hook_deliveries',
      old.map(({ id }) => id)
    )
    count(old.length)
  }
}
