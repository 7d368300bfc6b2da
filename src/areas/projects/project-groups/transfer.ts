// Moves a project into a group. No file moves, because the place of a repository depends only on the id of its project.
import type { Origin } from '../../../access/actor.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Project } from '../../../db/models/index.js'
import { BadRequest, Invalid, NotFound } from '../../../errors.js'
import { doerOf } from '../../ground/activity/authors.js'
import { publish } from '../../ground/activity/events.js'
import { projectSnapshot } from '../../ground/activity/project-snapshots.js'
import { audit, changesBetween } from '../../ground/audit/audit.js'
import { endProjectRedirect, redirectProject } from '../../ground/paths/redirects.js'
import { takenBy } from '../projects/project-update.js'
import { lowerForks } from '../projects/project-visibility.js'

interface Group {
  readonly id: number
  readonly path: string
  readonly visibility_level: number
}

/**
 * Moves a project into a group. A project that is more visible than the group gets the group's level. The old path redirects to
 * the project. Throws NotFound, and BadRequest when the group already has the project, or another one with its name.
 */
export async function transferProject(projectId: number, groupId: number, origin: Origin): Promise<void> {
  await transact(async () => {
    const project = await Project.findByPk(projectId, { lock: true })
    if (!project) throw new NotFound('Project')
    const group = await row<Group>(
      "select id, path, visibility_level from namespaces where id = ? and kind = 'group' lock in share mode",
      [groupId]
    )
    if (!group) throw new NotFound('Group')
    await move(project, group, origin)
  })
}

async function move(project: Project, group: Group, origin: Origin): Promise<void> {
  if (project.namespaceId === group.id) throw refused({ namespace: ['already has the project'] })
  const before = await projectSnapshot(project.id)
  const old = { namespaceId: project.namespaceId, path: project.path }
  const visibilityLevel = Math.min(project.visibilityLevel, group.visibility_level)
  try {
    await project.update({ namespaceId: group.id, visibilityLevel })
  } catch (error) {
    const taken = takenBy(error)
    throw taken instanceof Invalid ? refused(taken.errors, taken) : error
  }
  await endProjectRedirect({ namespaceId: group.id, path: project.path })
  await redirectProject(old, project.id)
  await lowerForks(project.id, visibilityLevel, origin)
  // A project cannot be shared with its own group.
  await execute('delete from project_group_links where project_id = ? and group_id = ?', [project.id, group.id])
  const after = await projectSnapshot(project.id)
  await publish({
    kind: 'project.transferred',
    project: after,
    old_path_with_namespace: before.path_with_namespace,
    by: doerOf(origin)
  })
  await audit(origin, {
    action: 'project.transfer',
    target: { type: 'project', id: project.id, name: before.path_with_namespace },
    changes: changesBetween(factsOf(before), factsOf(after))
  })
}

const factsOf = ({ path_with_namespace, visibility_level }: Awaited<ReturnType<typeof projectSnapshot>>) => ({
  path_with_namespace,
  visibility_level
})

const refused = (errors: Record<string, string[]>, cause?: Invalid) =>
  new BadRequest(`Failed to transfer project ${JSON.stringify(errors)}`, { cause })
