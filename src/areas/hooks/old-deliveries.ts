import { deleteRows } from '../../db/owned-rows.js'
import { row, rows } from '../../db/sql.js'
import { daysAgo, type Task, type TaskContext } from '../../queue/task.js'

/** Payloads and answers are the largest rows of all. A month is enough to find out why a receiver missed an event. */
const KEPT_DAYS = 30
const BATCH = 500
const OVER = "state in ('delivered', 'dead', 'canceled') and created_at < ?"

export const oldDeliveries: Task = {
  name: 'old_deliveries',
  schedule: '37 3 * * *',
  about: `removes hook deliveries that are over and were made ${KEPT_DAYS} days ago, with their tries`,
  run: context => removeDeliveries(context, daysAgo(KEPT_DAYS))
}

async function removeDeliveries({ dryRun, signal, count }: TaskContext, before: Date): Promise<undefined> {
  if (dryRun) {
    const found = await row<{ total: number }>(`select count(*) as total from hook_deliveries where ${OVER}`, [before])
    count(Number(found?.total ?? 0))
    return
  }
  for (;;) {
    signal.throwIfAborted()
    const old = await rows<{ id: number }>(`select id from hook_deliveries where ${OVER} limit ${BATCH}`, [before])
    if (old.length === 0) return
    await deleteRows(
      'hook_deliveries',
      old.map(({ id }) => id)
    )
    count(old.length)
  }
}
