// Shares projects with groups: each member of the group has a level in the project, at most the level of the share.
import type { Actor, Origin } from '../../../access/actor.js'
import { canSeeGroup } from '../../../access/authorize.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { BadParameters, BadRequest, Conflict, NotFound } from '../../../errors.js'
import { projectSnapshot } from '../../ground/activity/project-snapshots.js'
import { audit } from '../../ground/audit/audit.js'
import { findGroup, type GroupRow } from '../../people/groups/groups.queries.js'
import type { ProjectRow } from '../projects/projects.queries.js'
import type { ShareBody } from './shares.schema.js'

export interface ShareLink {
  readonly id: number
  readonly project_id: number
  readonly group_id: number
  readonly group_access: number
  /** YYYY-MM-DD. */
  readonly expires_at: string | null
}

/**
 * Shares a project with a group that the actor can see. Throws NotFound, Conflict when the group already has the
 * project or a share of it, BadRequest when the project's group forbids shares.
 */
export async function shareProject(
  project: ProjectRow,
  body: ShareBody,
  actor: Actor,
  origin: Origin
): Promise<ShareLink> {
  const { expires_at: end } = body
  if (end !== undefined && !isDay(end)) throw new BadParameters('expires_at is invalid')
  const group = await findGroup(String(body.group_id), actor)
  if (!group || !canSeeGroup(group, actor)) throw new NotFound('Group')
  return transact(() => share(project.id, group, body, origin))
}

/** Returns whether a text is a calendar day. 2026-02-30 is not. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}

async function share(projectId: number, group: GroupRow, body: ShareBody, origin: Origin): Promise<ShareLink> {
  const { group_access: level, expires_at: end = null } = body
  // The locks last until the link exists: neither side can be removed or moved in the meantime.
  const place = await row<{ namespace_id: number; locked: number }>(
    `select p.namespace_id, n.share_with_group_lock as locked from projects p
     join namespaces n on n.id = p.namespace_id where p.id = ? for update`,
    [projectId]
  )
  if (!place) throw new NotFound('Project')
  if (!(await row('select id from namespaces where id = ? lock in share mode', [group.id]))) throw new NotFound('Group')
  if (place.locked) throw new BadRequest('The project sharing with group is disabled')
  if (place.namespace_id === group.id) throw new Conflict('Project cannot be shared with the project it is in.')
  await removeEnded(projectId, group.id)
  const now = new Date()
  const { affectedRows } = await execute(
    `insert ignore into project_group_links (project_id, group_id, group_access, expires_at, created_at, updated_at)
     values (?, ?, ?, ?, ?, ?)`,
    [projectId, group.id, level, end, now, now]
  )
  if (affectedRows === 0) throw new Conflict('Group already shared with this group')
  await execute('update projects set has_shares = true where id = ?', [projectId])
  await note(projectId, origin, 'project.share', {
    group: { after: group.path },
    group_access: { after: level },
    ...(end !== null && { expires_at: { after: end } })
  })
  const link = await findLink(projectId, group.id)
  if (!link) throw new NotFound('Group Link')
  return link
}

/** A share that has ended stays until the daily task, and must not block a new one. */
const removeEnded = (projectId: number, groupId: number) =>
  execute('delete from project_group_links where project_id = ? and group_id = ? and expires_at <= utc_date()', [
    projectId,
    groupId
  ])

const findLink = (projectId: number, groupId: number): Promise<ShareLink | undefined> =>
  row<ShareLink>(
    `select id, project_id, group_id, group_access, date_format(expires_at, '%Y-%m-%d') as expires_at
     from project_group_links where project_id = ? and group_id = ?`,
    [projectId, groupId]
  )

/** Ends the share of a project with a group. Throws NotFound without a share. */
export async function unshareProject({ id }: { readonly id: number }, groupId: string, origin: Origin): Promise<void> {
  if (!/^\d{1,10}$/.test(groupId)) throw new NotFound('Group Link')
  await transact(async () => {
    const group = await row<{ path: string }>('select path from namespaces where id = ?', [Number(groupId)])
    const { affectedRows } = await execute('delete from project_group_links where project_id = ? and group_id = ?', [
      id,
      Number(groupId)
    ])
    if (affectedRows === 0) throw new NotFound('Group Link')
    await note(id, origin, 'project.unshare', { group: { before: group?.path ?? groupId } })
  })
}

async function note(
  id: number,
  origin: Origin,
  action: 'project.share' | 'project.unshare',
  changes: { readonly [name: string]: { readonly before?: unknown; readonly after?: unknown } }
): Promise<void> {
  const { path_with_namespace: name } = await projectSnapshot(id)
  await audit(origin, { action, target: { type: 'project', id, name }, changes })
}
