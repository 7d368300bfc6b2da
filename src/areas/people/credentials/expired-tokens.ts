import { daysAgo, removeRows, type Task } from '../../../queue/task.js'

/** A token stops working at once. Its row stays for a while, so that people can find out why a script stopped working. */
const KEPT_DAYS = 30

export const expiredTokens: Task = {
  name: 'expired_tokens',
  schedule: '7 3 * * *',
  about: `removes personal access tokens that expired or were revoked ${KEPT_DAYS} days ago`,
  run: context => {
    const before = daysAgo(KEPT_DAYS)
    return removeRows(context, 'access_tokens', "kind = 'personal' and (expires_at < ? or revoked_at < ?)", [
      before,
      before
    ])
  }
}
