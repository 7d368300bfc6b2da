// Removing projects. Their rows go at once, with what others are told of it; what takes long, builds and files, goes by a
// job afterwards (erase-project.ts).
import type { Origin } from '../../access/actor.js'
import { execute, marks } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { enqueueAll } from '../../queue/enqueue.js'
import { projectPayload } from '../../webhooks/system-payloads.js'
import { type ProjectSnapshot, systemProjectOf } from '../activity/project-snapshots.js'
import { auditAll } from '../audit/audit.js'
import { emitEvents } from '../hooks/events.js'

const AT_ONCE = 500

/**
 * Removes projects: from now on nobody finds them. A push or a build that is under way ends in nothing. Joins the
 * caller's transaction.
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
  await execute(`delete from members where source_type = 'project' and source_id in (${marks(ids)})`, ids)
  await execute(`delete from runner_projects where project_id in (${marks(ids)})`, ids)
  await execute(`delete from projects where id in (${marks(ids)})`, ids)
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
