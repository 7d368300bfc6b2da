// Removes projects. Their rows go at once, together with the events and the audit. Builds and files take long, so a job
// removes them afterwards (erase-project.ts).
import type { Origin } from '../../access/actor.js'
import { deleteRows } from '../../db/owned-rows.js'
import { execute } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { enqueueAll } from '../../queue/enqueue.js'
import { projectPayload } from '../../webhooks/system-payloads.js'
import { type ProjectSnapshot, systemProjectOf } from '../activity/project-snapshots.js'
import { auditAll } from '../audit/audit.js'
import { emitEvents } from '../hooks/events.js'

const AT_ONCE = 500

/**
 * Removes projects: from now on nobody finds them. A running push or build has no effect. Joins the transaction of the
 * caller.
 */
export async function removeProjects(projects: readonly ProjectSnapshot[], origin: Origin): Promise<void> {
  await transact(async () => {
    for (let at = 0; at < projects.length; at += AT_ONCE) await removeSome(projects.slice(at, at + AT_ONCE), origin)
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
  await deleteRows('projects', ids)
  await emitEvents(projects.map(project => [`project_destroy:${project.id}`, payloadOf(project)]))
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

const payloadOf = (project: ProjectSnapshot) => projectPayload('project_destroy', systemProjectOf(project))
