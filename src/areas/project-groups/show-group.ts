import type { Actor } from '../../access/actor.js'
import { publicUrl } from '../../config.js'
import { NotFound } from '../../errors.js'
import { findGroup } from '../groups/groups.queries.js'
import { readProjects } from '../projects/project-readings.js'
import { listProjects, type ProjectRow } from '../projects/projects.queries.js'
import { viewProject } from '../projects/projects.view.js'

/** The most projects of each kind that the record shows. */
const MOST = { per_page: 100 }

/** Reads and shows a group with its projects. Throws NotFound. */
export async function showGroup(id: number, actor: Actor) {
  const group = await findGroup(String(id), actor)
  if (!group) throw new NotFound('Group')
  const [own, shared] = await Promise.all([
    listProjects({ group: id }, MOST, actor),
    listProjects({ sharedWith: id }, MOST, actor)
  ])
  const reading = await readProjects([...own.items, ...shared.items], actor)
  const view = (project: ProjectRow) => viewProject(project, actor, reading)
  return {
    id: group.id,
    name: group.name,
    path: group.path,
    description: group.description,
    visibility_level: group.visibility_level,
    avatar_url: group.avatar,
    web_url: `${publicUrl()}/groups/${group.path}`,
    request_access_enabled: group.request_access_enabled === 1,
    projects: own.items.map(view),
    shared_projects: shared.items.map(view)
  }
}
