import { daysAgo, removeRows, type Task } from '../../../queue/task.js'

/** Long enough to find out who moved a ref. Recovery needs only open changes, which are not removed. */
const KEPT_DAYS = 90

export const oldRefChanges: Task = {
  name: 'old_ref_changes',
  schedule: '23 3 * * *',
  about: `removes ref changes that were settled ${KEPT_DAYS} days ago`,
  // A change is settled after it was made. Only the time at which it was made has an index.
  run: context =>
    removeRows(context, 'ref_changes', "state = 'done' and created_at < ? and settled_at < ?", [
      daysAgo(KEPT_DAYS),
      daysAgo(KEPT_DAYS)
    ])
}
