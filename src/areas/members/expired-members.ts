// "Memberships and shares with expires_at are removed by a daily job": they count up to the day before, so this only
// tidies up, and tells that they have ended.
import { scheduleOrigin } from '../../access/actor.js'
import { execute, marks, row, rows } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { removeRows, type Task, type TaskContext } from '../../queue/task.js'
import { auditAll } from '../audit/audit.js'
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
    if (context.dryRun) await removeRows(context, 'project_group_links', 'expires_at <= utc_date()', [])
    else await endShares(context)
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

interface EndedShare {
  readonly id: number
  readonly project_id: number
  readonly project: string
  readonly group_path: string
}

async function endShares({ signal, count }: TaskContext): Promise<void> {
  for (let removed = AT_ONCE; removed > 0; ) {
    signal.throwIfAborted()
    removed = await transact(async () => {
      // Only the rows of the shares are locked, not those of the projects and groups.
      const locked = await rows<{ id: number }>(
        `select id from project_group_links where expires_at <= utc_date() order by id limit ${AT_ONCE} for update`
      )
      if (locked.length === 0) return 0
      const ids = locked.map(({ id }) => id)
      const ended = await rows<EndedShare>(
        `select l.id, l.project_id, concat(n.path, '/', p.path) as project, g.path as group_path
         from project_group_links l join projects p on p.id = l.project_id join namespaces n on n.id = p.namespace_id
         join namespaces g on g.id = l.group_id where l.id in (${marks(ids)})`,
        ids
      )
      await execute(`delete from project_group_links where id in (${marks(ids)})`, ids)
      await auditAll(
        scheduleOrigin(),
        ended.map(({ project_id: id, project: name, group_path: group }) => ({
          action: 'project.unshare',
          target: { type: 'project', id, name },
          changes: { group: { before: group }, reason: { after: 'expired' } }
        }))
      )
      return ids.length
    })
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
