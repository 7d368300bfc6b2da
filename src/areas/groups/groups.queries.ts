import type { Actor } from '../../access/actor.js'
import { groupMembership, visibleProjects } from '../../access/membership.js'
import { row } from '../../db/sql.js'

/** A group, with what the access rules need to know about the asker. */
export interface GroupRow {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly description: string
  readonly avatar: string | null
  readonly visibility_level: number
  readonly share_with_group_lock: number
  readonly request_access_enabled: number
  readonly created_at: Date
  readonly updated_at: Date
  /** The asker's level as a member; null when the asker is not a member. */
  readonly access_level: number | null
  /** Whether the asker may see at least one of the group's projects, and so the group. */
  readonly sees_project: number
}

/** A group by its id or path, with the asker's level; undefined when the group does not exist. */
export function findGroup(id: string, actor: Actor): Promise<GroupRow | undefined> {
  const visible = visibleProjects(actor)
  const member = groupMembership(actor.user?.id ?? 0)
  const byNumber = /^\d{1,10}$/.test(id)
  return row<GroupRow>(
    `select n.id, n.name, n.path, n.description, n.avatar, n.visibility_level, n.share_with_group_lock,
       n.request_access_enabled, n.created_at, n.updated_at, m.access_level,
       exists (select 1 from projects p where p.namespace_id = n.id and ${visible.sql}) as sees_project
     from namespaces n ${member.sql} where n.kind = 'group' and ${byNumber ? 'n.id = ?' : 'n.path_key = lower(?)'}`,
    [...visible.values, ...member.values, byNumber ? Number(id) : id]
  )
}
