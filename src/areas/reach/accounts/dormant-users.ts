// Blocks users who have not used the appliance for long (identity.accounts.dormant_days), after a warning by mail. With the right
// password, they come back (letIn in suspension.ts).
import { scheduleOrigin } from '../../../access/actor.js'
import { config } from '../../../config.js'
import { rows } from '../../../db/connect/sql.js'
import { Forbidden } from '../../../errors.js'
import { daysAgo, type Task, type TaskContext } from '../../../queue/task.js'
import { suspendDormant, warnDormant } from '../../people/users/suspension.js'

/** Users are warned this many days before, and never later than half of the time. */
const WARNING_DAYS = 7
const AT_ONCE = 500

interface Candidate {
  readonly id: number
  readonly username: string
  readonly used_at: Date
  readonly warned_at: Date | null
}

export const dormantUsers: Task = {
  name: 'dormant_users',
  schedule: '52 4 * * *',
  about: 'warns and blocks users who have not used the appliance for identity.accounts.dormant_days',
  run: async context => {
    const { dormant_days: days } = config().identity.accounts
    if (days === 0) return undefined
    const figures = { warned: 0, blocked: 0 }
    for await (const user of idleSince(daysAgo(days - noticeOf(days)))) {
      context.signal.throwIfAborted()
      const done = await treat(user, days, context)
      if (done === null) continue
      context.count()
      figures[done] += 1
    }
    return figures
  }
}

/** The days between the warning and the block. */
const noticeOf = (days: number): number => Math.min(WARNING_DAYS, Math.floor(days / 2))

/** Nobody is blocked without a warning, also when the task runs for the first time, or has not run for long. */
async function treat(user: Candidate, days: number, context: TaskContext): Promise<'warned' | 'blocked' | null> {
  const { id, username, used_at: used, warned_at: warned } = user
  const notice = noticeOf(days)
  if (!warned || warned <= used) {
    if (!context.dryRun) await warnDormant(id, { days, notice })
    return 'warned'
  }
  if (warned > daysAgo(notice) || used > daysAgo(days)) return null
  if (context.dryRun) return 'blocked'
  try {
    return (await suspendDormant(id, used, scheduleOrigin())) ? 'blocked' : null
  } catch (error) {
    // The last administrator stays.
    if (!(error instanceof Forbidden)) throw error
    context.note(`${username}: ${error.reason}`)
    return null
  }
}

/** The active users who have not used the appliance since, by their ids. */
async function* idleSince(since: Date): AsyncGenerator<Candidate> {
  let last = 0
  for (;;) {
    const found = await rows<Candidate>(
      `select u.id, u.username, u.dormancy_warned_at as warned_at,
         greatest(u.created_at, coalesce(u.current_sign_in_at, u.created_at), coalesce(l.last_used_at, u.created_at)) as used_at
       from users u left join user_uses l on l.user_id = u.id
       where u.id > ? and u.state = 'active' and u.created_at < ?
         and (u.current_sign_in_at is null or u.current_sign_in_at < ?)
         and (l.last_used_at is null or l.last_used_at < ?)
       order by u.id limit ${AT_ONCE}`,
      [last, since, since, since]
    )
    yield* found
    if (found.length < AT_ONCE) return
    last = found.at(-1)?.id ?? last
  }
}
