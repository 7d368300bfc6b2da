// Remembers which forms of pages were sent, so that an impatient second click changes nothing. The table serves all servers together.
import { execute } from '../../../db/connect/sql.js'
import { daysAgo, removeRows, type Task } from '../../../queue/task.js'

/** Returns false when the form with this id was already accepted. */
export async function acceptForm(id: Buffer): Promise<boolean> {
  const { affectedRows } = await execute('insert ignore into sent_forms (id, created_at) values (?, ?)', [
    id,
    new Date()
  ])
  return affectedRows === 1
}

/** Lets a form be sent again, because it changed nothing. */
export async function forgetForm(id: Buffer): Promise<void> {
  await execute('delete from sent_forms where id = ?', [id])
}

export const oldSentForms: Task = {
  name: 'old_sent_forms',
  schedule: '52 3 * * *',
  about: 'removes the marks of forms that were sent more than a day ago',
  run: context => removeRows(context, 'sent_forms', 'created_at < ?', [daysAgo(1)])
}
