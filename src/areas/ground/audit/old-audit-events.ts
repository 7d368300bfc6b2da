import { daysAgo, removeRows, type Task } from '../../../queue/task.js'

const KEPT_DAYS = 365

export const oldAuditEvents: Task = {
  name: 'old_audit_events',
  schedule: '53 3 * * *',
  about: `removes audit events older than ${KEPT_DAYS} days`,
  run: context => removeRows(context, 'audit_events', 'created_at < ?', [daysAgo(KEPT_DAYS)])
}
