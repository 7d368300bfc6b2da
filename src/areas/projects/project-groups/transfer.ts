// Moves a project into another namespace. No file moves, because the place of a repository depends only on the id of its project.
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

interface Namespace {
  readonly id: number
  readonly path: string
  readonly visibility_level: number
}

/**
 * Moves a project into a group. A project that is more visible than the group gets the group's level. The old path redirects to
 * the project. Throws NotFound, and BadRequest when the group already has the project, or another one with its name.
 */
export const transferProject = (projectId: number, groupId: number, origin: Origin): Promise<void> =>
  transact(async () => {
    const group = await row<Namespace>(
      "select id, path, visibility_level from namespaces where id = ? and kind = 'group' lock in share mode",
      [groupId]
    )
    if (!group) throw new NotFound('Group')
    await move(projectId, group, origin)
  })

/** The same into the namespace of a user. Not specified: the limit of projects of the user does not count here. */
export const transferToUser = (projectId: number, userId: number, origin: Origin): Promise<void> =>
  transact(async () => {
    const namespace = await row<Namespace>(
      "select id, path, 20 as visibility_level from namespaces where owner_id = ? and kind = 'user' lock in share mode",
      [userId]
    )
    if (!namespace) throw new NotFound('User')
    await move(projectId, namespace, origin)
  })

async function move(projectId: number, namespace: Namespace, origin: Origin): Promise<void> {
  const project = await Project.findByPk(projectId, { lock: true })
  if (!project) throw new NotFound('Project')
  if (project.namespaceId === namespace.id) throw refused({ namespace: ['already has the project'] })
  const before = await projectSnapshot(project.id)
  const old = { namespaceId: project.namespaceId, path: project.path }
  const visibilityLevel = Math.min(project.visibilityLevel, namespace.visibility_level)
  try {
    await project.update({ namespaceId: namespace.id, visibilityLevel })
  } catch (error) {
    const taken = takenBy(error)
    throw taken instanceof Invalid ? refused(taken.errors, taken) : error
  }
  await endProjectRedirect({ namespaceId: namespace.id, path: project.path })
  await redirectProject(old, project.id)
  await lowerForks(project.id, visibilityLevel, origin)
  // A project cannot be shared with its own group.
  await execute('delete from project_group_links where project_id = ? and group_id = ?', [project.id, namespace.id])
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
