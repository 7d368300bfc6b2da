// Removes projects. Their rows are deleted at once, in the transaction of the events and the audit log. Builds and files take
// long, so a job removes them afterwards (erase-project.ts).
import type { Origin } from '../../../access/actor.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { deleteRows } from '../../../db/ownership/owned-rows.js'
import { NotFound } from '../../../errors.js'
import { batches } from '../../../lib/batches.js'
import { enqueueAll } from '../../../queue/enqueue.js'
import { publishAll } from '../../ground/activity/events.js'
import { type ProjectSnapshot, projectSnapshot } from '../../ground/activity/project-snapshots.js'
import { auditAll } from '../../ground/audit/audit.js'
import { cancelDeliveriesOfProjects } from '../../ground/hooks/deliveries.js'
import { recountForks, sourcesOf } from '../../projects/projects/fork-links.js'

const AT_ONCE = 500

/** Removes projects: from now on nobody finds them, and a running push or build has no effect. Joins the transaction of the caller. */
export async function removeProjects(projects: readonly ProjectSnapshot[], origin: Origin): Promise<void> {
  await transact(async () => {
    for (const some of batches(projects, AT_ONCE)) await removeSome(some, origin)
  })
}

/** Removes one project. Throws NotFound when another request has removed it. */
export async function removeProject({ id }: { readonly id: number }, origin: Origin): Promise<void> {
  await transact(async () => {
    if (!(await row('select id from projects where id = ? for update', [id]))) throw new NotFound('Project')
    await removeSome([await projectSnapshot(id)], origin)
  })
}

async function removeSome(projects: readonly ProjectSnapshot[], origin: Origin): Promise<void> {
  const ids = projects.map(({ id }) => id)
  const now = new Date()
  await execute(
    `insert into project_removals (project_id, storage, path_with_namespace, created_at)
     values ${projects.map(() => '(?, ?, ?, ?)').join(', ')}`,
    projects.flatMap(project => [project.id, project.storage, project.path_with_namespace, now])
  )
  await cancelDeliveriesOfProjects(ids)
  const sources = await sourcesOf(ids)
  await deleteRows('projects', ids)
  await recountForks(sources)
  await publishAll(projects.map(project => ({ kind: 'project.deleted', project })))
  await auditAll(
    origin,
    projects.map(({ id, path_with_namespace: name }) => ({
      action: 'project.delete',
      target: { type: 'project', id, name }
    }))
  )
  await enqueueAll(
    'project.remove',
    ids.map(projectId => ({ projectId }))
  )
}
