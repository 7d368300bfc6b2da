// Deletes a group with all its projects. The rows are deleted at once; jobs remove the builds and files of the projects.
import type { Origin } from '../../../access/actor.js'
import { transact } from '../../../db/connect/transact.js'
import { deleteRows } from '../../../db/ownership/owned-rows.js'
import { publish } from '../../ground/activity/events.js'
import { projectsOfNamespace } from '../../ground/activity/project-snapshots.js'
import { groupSnapshot } from '../../ground/activity/snapshots.js'
import { audit, changesBetween } from '../../ground/audit/audit.js'
import { lockGroup } from '../../people/groups/groups.queries.js'
import { removeProjects } from './project-removal.js'

/** Deletes a group. Does nothing when it no longer exists. */
export function deleteGroup(id: number, origin: Origin): Promise<void> {
  return transact(async () => {
    // A request that creates a project in the group waits for this row, and then finds no group.
    const group = await lockGroup(id)
    if (!group) return
    const projects = await projectsOfNamespace(id)
    await removeProjects(projects, origin)
    // Not specified: whether hooks get an event for each membership that ends. They only get the deletion of the group.
    await deleteRows('namespaces', [id])
    await publish({ kind: 'group.deleted', group: groupSnapshot(group) })
    const { name, path, description, visibility_level } = group
    const before = {
      name,
      path,
      description,
      visibility_level,
      projects: projects.map(project => project.path_with_namespace)
    }
    const target = { type: 'group', id, name: path }
    await audit(origin, { action: 'group.delete', target, changes: changesBetween(before, null) })
  })
}
