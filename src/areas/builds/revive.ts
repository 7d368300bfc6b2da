// Builds whose job was lost get another one: after workers were killed again and again, or a job was discarded.
import { execute, rows } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { enqueue } from '../../queue/enqueue.js'
import { enqueuedPayloads } from '../../queue/metrics.js'

/** Longer than any hand-over between workers takes. */
const LOST_AFTER_MS = 60_000

/** Builds that run by no lease, or wait, while no job of theirs is left. */
export async function findLostBuilds(now = new Date()): Promise<number[]> {
  const before = new Date(now.getTime() - LOST_AFTER_MS)
  const idle = await rows<{ id: number }>(
    `select id from builds where status = 'running' and lease_until < ?
     union all select id from builds where status = 'pending' and queued_at < ?`,
    [before, before]
  )
  if (idle.length === 0) return []
  // Read after the builds: a job that came and went in between has moved its build on, which the update sees.
  const waiting = await enqueuedPayloads('build.run')
  return idle.map(({ id }) => id).filter(id => !waiting.has(JSON.stringify({ buildId: id })))
}

/** Gives such builds another job; gives which. */
export async function reviveBuilds(now = new Date()): Promise<number[]> {
  const before = new Date(now.getTime() - LOST_AFTER_MS)
  const revived: number[] = []
  for (const id of await findLostBuilds(now)) if (await revive(id, before, now)) revived.push(id)
  return revived
}

function revive(id: number, before: Date, now: Date): Promise<boolean> {
  return transact(async () => {
    // Of several workers that find it lost the first moves its times on.
    const { affectedRows } = await execute(
      `update builds set lease_until = if(status = 'running', ?, null), queued_at = if(status = 'pending', ?, queued_at)
       where id = ? and (status = 'running' and lease_until < ? or status = 'pending' and queued_at < ?)`,
      [now, now, id, before, before]
    )
    if (affectedRows === 0) return false
    await enqueue('build.run', { buildId: id })
    return true
  })
}
