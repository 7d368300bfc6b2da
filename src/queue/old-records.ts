// Removes records of the queue that nobody needs any more.
import { daysAgo, removeRows, type Task } from './task.js'

/** Longer than any tick can be late: the row of a tick only prevents a second worker from enqueuing it again. */
const TICK_DAYS = 2
/** Sparklines show minutes; a week allows a comparison with the same day of the last week. */
const MINUTE_DAYS = 7

export const oldTicks: Task = {
  name: 'old_ticks',
  schedule: '47 3 * * *',
  about: `removes ticks of the schedule older than ${TICK_DAYS} days`,
  run: context => removeRows(context, 'schedule_ticks', 'due_at < ?', [daysAgo(TICK_DAYS)])
}

export const oldQueueMinutes: Task = {
  name: 'old_queue_minutes',
  schedule: '49 3 * * *',
  about: `removes the figures of queues for minutes older than ${MINUTE_DAYS} days`,
  run: context => removeRows(context, 'queue_minutes', 'minute < ?', [daysAgo(MINUTE_DAYS)])
}
