import { config } from '../../../config.js'
import { daysAgo, removeRows, type Task, type TaskContext } from '../../../queue/task.js'

/** Removes redirects whose reservation has ended. Not specified: without reservations, redirects stay until their path is taken. */
async function removeOld(context: TaskContext): Promise<undefined> {
  const { reserved_days: days } = config().paths
  if (days === 0) return
  for (const table of ['namespace_redirects', 'project_redirects']) {
    await removeRows(context, table, 'created_at < ?', [daysAgo(days)])
  }
}

export const oldRedirects: Task = {
  name: 'old_redirects',
  schedule: '11 3 * * *',
  about: 'removes redirects from old paths after `paths.reserved_days`',
  run: removeOld
}
