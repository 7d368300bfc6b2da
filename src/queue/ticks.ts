// The ticks of the schedule. N workers see the same tick, but only one of them inserts it.
import { execute } from '../db/connect/sql.js'
import { transact } from '../db/connect/transact.js'
import { type EnqueueOptions, enqueue } from './enqueue.js'

/**
 * Enqueues a maintenance task for a tick, only once even when several workers try. Returns false when another worker
 * has already enqueued it.
 */
export async function enqueueTick(task: string, dueAt: Date, options: EnqueueOptions = {}): Promise<boolean> {
  return transact(async () => {
    const { affectedRows } = await execute(
      'insert ignore into schedule_ticks (task, due_at, created_at) values (?, ?, ?)',
      [task, dueAt, new Date()]
    )
    if (affectedRows === 0) return false
    await enqueue('maintenance.run', { task }, options)
    return true
  })
}
