// The detail of a group: the group with its projects.
import type { Actor } from '../../../access/actor.js'
import { NotFound } from '../../../errors.js'
import { Type } from '../../../lib/type.js'
import { findGroup, type GroupRecord } from '../../people/groups/groups.queries.js'
import { groupFields, viewGroup } from '../../people/groups/groups.view.js'
import { projectsOfGroup } from './lists/group-projects.queries.js'
import { readProjects } from './project-readings.js'
import type { ShownProjectRow } from './projects.queries.js'
import { Project, viewProject } from './projects.view.js'

export const GroupDetail = Type.Object(
  {
    ...groupFields,
    projects: Type.Array(Project, { description: 'its projects that you can see, newest first' }),
    shared_projects: Type.Array(Project, { description: 'the projects that are shared with it, newest first' })
  },
  { title: 'Group', description: 'A group with its projects.' }
)

/** Returns the group with its projects. `cut` is true when there are more projects than the response shows. */
export async function groupDetail(group: GroupRecord, actor: Actor) {
  const { projects, shared, cut } = await projectsOfGroup(group.id, actor)
  const reading = await readProjects([...projects, ...shared], actor)
  const view = (project: ShownProjectRow) => viewProject(project, actor, reading)
  const answer = Object.assign(viewGroup(group), {
    projects: projects.map(view),
    shared_projects: shared.map(view)
  })
  return { answer, cut }
}

/** Does the same for a group that was just written. Throws NotFound when the caller can no longer see it. */
export async function writtenGroup(id: number, actor: Actor) {
  const group = await findGroup(id, actor)
  if (!group) throw new NotFound('Group')
  return groupDetail(group, actor)
}
