import { removeRows, type Task } from '../../../queue/task.js'

export const expiredSessions: Task = {
  name: 'expired_sessions',
  schedule: '17 * * * *',
  about: 'removes sessions that have expired',
  run: context => removeRows(context, 'sessions', 'expires_at < ?', [new Date()])
}
