// The schedule's ticks: N workers see the same tick, one of them inserts it.
import { execute } from '../db/sql.js'
import { transact } from '../db/transact.js'
import { enqueue } from './enqueue.js'

/** Enqueues a maintenance task for a tick, once however many ask; false when somebody else did. */
export async function enqueueTick(task: string, dueAt: Date): Promise<boolean> {
  return transact(async () => {
    const { affectedRows } = await execute(
      'insert ignore into schedule_ticks (task, due_at, created_at) values (?, ?, ?)',
      [task, dueAt, new Date()]
    )
    if (affectedRows === 0) return false
    await enqueue('maintenance.run', { task })
    return true
  })
}

/** Removes ticks older than two days. */
export async function forgetTicks(): Promise<number> {
  const before = new Date(Date.now() - 2 * 86_400_000)
  return (await execute('delete from schedule_ticks where due_at < ?', [before])).affectedRows
}
