// "Memberships and shares with expires_at are removed by a daily job": they count up to the day before, so this only
// tidies up, and tells that they have ended.
import { scheduleOrigin } from '../../access/actor.js'
import { row } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { removeRows, type Task, type TaskContext } from '../../queue/task.js'
import { endMembership } from './members.js'
import { type EndedMember, endedMembers, findMember } from './members.queries.js'
import { findSource } from './sources.js'

const AT_ONCE = 500

export const expiredMembers: Task = {
  name: 'expired_members',
  schedule: '11 0 * * *',
  about: 'removes memberships and shares with groups whose last day has passed',
  run: async context => {
    if (context.dryRun) await countEnded(context)
    else await endAll(context)
    await removeRows(context, 'project_group_links', 'expires_at <= utc_date()', [])
    return undefined
  }
}

async function countEnded({ count }: TaskContext): Promise<void> {
  const found = await row<{ total: number }>('select count(*) as total from members where expires_at <= utc_date()')
  count(Number(found?.total ?? 0))
}

async function endAll({ signal, count }: TaskContext): Promise<void> {
  for (let removed = AT_ONCE; removed > 0; ) {
    removed = 0
    for (const member of await endedMembers(AT_ONCE)) {
      signal.throwIfAborted()
      if (await end(member)) removed++
    }
    count(removed)
  }
}

/** Returns false when somebody has given the membership another end, or has removed it. */
const end = ({ source_type: type, source_id: id, user_id: userId }: EndedMember): Promise<boolean> =>
  transact(async () => {
    const source = await findSource({ type, id })
    const member = await findMember({ type, id }, userId, { lock: true })
    if (!source || !member?.expires_at || new Date(member.expires_at) > new Date()) return false
    await endMembership(source, member, scheduleOrigin(), { expired: true })
    return true
  })
