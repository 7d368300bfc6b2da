// The projects in the detail of a group.
import type { Actor } from '../../../../access/actor.js'
import { lasts, membershipOf, visibleProjects } from '../../../../access/membership.js'
import { marks, padded, rows } from '../../../../db/connect/sql.js'
import { readProjectRows, type ShownProjectRow, selectShownProjects } from '../projects.queries.js'

/** The maximum number of projects of each kind in the detail of a group. The list of its projects has pages. */
const MOST_OF_GROUP = 500

/** Returns the ids of the projects that the caller may see: those of a group, or those shared with it, newest first. */
async function idsOfGroup(from: string, groupId: number, actor: Actor): Promise<number[]> {
  const visible = visibleProjects(actor)
  const found = await rows<{ id: number }>(
    `select p.id from ${from} and ${visible.sql} order by p.created_at desc, p.id desc limit ${MOST_OF_GROUP + 1}`,
    [groupId, ...visible.values]
  )
  return found.map(({ id }) => id)
}

/** Returns the projects of a group and those shared with it, as far as the caller may see them. */
export async function projectsOfGroup(groupId: number, actor: Actor) {
  const [owned, shared] = await Promise.all([
    idsOfGroup('projects p where p.namespace_id = ?', groupId, actor),
    idsOfGroup(
      `project_group_links l join projects p on p.id = l.project_id
         where l.group_id = ? and ${lasts('l')}`,
      groupId,
      actor
    )
  ])
  const cut = Math.max(owned.length, shared.length) > MOST_OF_GROUP
  const [projects, sharedProjects] = [owned, shared].map(ids => ids.slice(0, MOST_OF_GROUP)) as [number[], number[]]
  const found = await findProjects([...projects, ...sharedProjects], actor)
  const read = (ids: number[]) => ids.flatMap(id => found.get(id) ?? [])
  return { projects: read(projects), shared: read(sharedProjects), cut }
}

/** Returns projects by their ids, with the caller's levels. */
async function findProjects(ids: readonly number[], actor: Actor): Promise<ReadonlyMap<number, ShownProjectRow>> {
  if (ids.length === 0) return new Map()
  const membership = membershipOf(actor)
  const listed = padded(ids)
  const found = await readProjectRows<ShownProjectRow>(
    {
      sql: `${selectShownProjects(membership, 'projects p')} where p.id in (${marks(listed)})`,
      values: membership.values(actor.user?.id ?? 0, [], listed)
    },
    membership,
    actor
  )
  return new Map(found.map(project => [project.id, project]))
}
