// "Memberships and shares with expires_at are removed by a daily job": they stop counting on that day, so the job only
// deletes the rows and publishes the events.
import { scheduleOrigin } from '../../../access/actor.js'
import { execute, marks, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { countRows, type Task, type TaskContext } from '../../../queue/task.js'
import { auditAll } from '../../ground/audit/audit.js'
import { endMembership } from '../../people/members/members.js'
import { type EndedMember, endedMembers, findMember } from '../../people/members/members.queries.js'
import { findSource } from '../../people/members/sources.js'

const AT_ONCE = 500
const ENDED = 'expires_at <= utc_date()'

export const expiredMembers: Task = {
  name: 'expired_members',
  schedule: '11 0 * * *',
  about: 'removes memberships and shares with groups whose last day has passed',
  run: async context => {
    if (context.dryRun) {
      await countRows(context, 'members', ENDED, [])
      return countRows(context, 'project_group_links', ENDED, [])
    }
    await endAll(context)
    await endShares(context)
    return undefined
  }
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
      // Locks only the rows of the shares, not those of the projects and groups.
      const locked = await rows<{ id: number }>(
        `select id from project_group_links where ${ENDED} order by id limit ${AT_ONCE} for update`
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

/** Returns false when the membership got another expiry date or was removed in the meantime. */
const end = ({ source_type: type, source_id: id, user_id: userId }: EndedMember): Promise<boolean> =>
  transact(async () => {
    const source = await findSource({ type, id })
    const member = await findMember({ type, id }, userId, { lock: true })
    if (!source || !member?.expires_at || new Date(member.expires_at) > new Date()) return false
    await endMembership(source, member, scheduleOrigin(), { expired: true })
    return true
  })
