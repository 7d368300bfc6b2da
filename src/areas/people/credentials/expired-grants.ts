import { row, rows } from '../../../db/connect/sql.js'
import { deleteRows } from '../../../db/ownership/owned-rows.js'
import { daysAgo, removeRows, type Task } from '../../../queue/task.js'

/** How long a used refresh token stays known, so that a second use is detected, and how long people can look up a revoked grant. */
const KEPT_DAYS = 30
const AT_ONCE = 500

const ENDED = 'revoked_at < ? or (code_expires_at < ? and code_used_at is null)'

export const expiredGrants: Task = {
  name: 'expired_oauth_grants',
  schedule: '11 3 * * *',
  about: `removes unused OAuth codes, and grants and tokens that were revoked ${KEPT_DAYS} days ago`,
  run: async context => {
    const { dryRun, signal, count } = context
    const values = [daysAgo(KEPT_DAYS), daysAgo(1)]
    if (dryRun) {
      count(
        Number(
          (await row<{ total: number }>(`select count(*) as total from oauth_grants where ${ENDED}`, values))?.total
        )
      )
    }
    while (!dryRun) {
      signal.throwIfAborted()
      const sql = `select id from oauth_grants where ${ENDED} limit ${AT_ONCE}`
      const ids = (await rows<{ id: number }>(sql, values)).map(({ id }) => id)
      if (ids.length === 0) break
      await deleteRows('oauth_grants', ids)
      count(ids.length)
    }
    return removeRows(context, 'oauth_tokens', 'revoked_at < ?', [daysAgo(KEPT_DAYS)])
  }
}
