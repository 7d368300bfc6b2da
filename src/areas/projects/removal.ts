// Removing projects. Their rows go at once, with what others are told of it; what takes long, builds and files, goes by a
// job afterwards (remains.ts).
import type { Origin } from '../../access/actor.js'
import { execute, marks, rows } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { enqueueAll } from '../../queue/enqueue.js'
import { projectPayload } from '../../webhooks/system-payloads.js'
import { auditAll } from '../admin/audit.js'
import { emitEvents } from '../admin/events.js'

/** A project with all that is told of its end. */
export interface RemovableProject {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly path_with_namespace: string
  readonly storage: string
  readonly visibility_level: number
  readonly created_at: Date
  readonly updated_at: Date
  /** Of a group's project the group's name and an empty address. */
  readonly owner_name: string
  readonly owner_email: string
}

const SELECT = `select p.id, p.name, p.path, concat(n.path, '/', p.path) as path_with_namespace, p.storage,
  p.visibility_level, p.created_at, p.updated_at, coalesce(o.name, n.name) as owner_name,
  coalesce(o.email, '') as owner_email
  from projects p join namespaces n on n.id = p.namespace_id
  left join users o on o.id = n.owner_id and n.kind = 'user'`
const AT_ONCE = 500

/** The projects of a user's own namespace, in the order of their paths. */
export function findPersonalProjects(userId: number): Promise<RemovableProject[]> {
  return rows<RemovableProject>(`${SELECT} where n.kind = 'user' and n.owner_id = ? order by p.path`, [userId])
}

/** A project with what is told of its beginning and end. */
export async function findToldProject(id: number): Promise<RemovableProject | undefined> {
  return (await rows<RemovableProject>(`${SELECT} where p.id = ?`, [id]))[0]
}

/**
 * Removes projects: from now on nobody finds them. A push or a build that is under way ends in nothing. Joins the
 * caller's transaction.
 */
export async function removeProjects(projects: readonly RemovableProject[], origin: Origin): Promise<void> {
  await transact(async () => {
    for (let at = 0; at < projects.length; at += AT_ONCE) await removeSome(projects.slice(at, at + AT_ONCE), origin)
  })
}

async function removeSome(projects: readonly RemovableProject[], origin: Origin): Promise<void> {
  const ids = projects.map(({ id }) => id)
  const now = new Date()
  await execute(
    `insert into project_removals (project_id, storage, path_with_namespace, created_at)
     values ${projects.map(() => '(?, ?, ?, ?)').join(', ')}`,
    projects.flatMap(project => [project.id, project.storage, project.path_with_namespace, now])
  )
  await execute(`delete from members where source_type = 'project' and source_id in (${marks(ids)})`, ids)
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

const payloadOf = (project: RemovableProject) => projectPayload('project_destroy', systemProjectOf(project))

/** A project as system events name it. */
export const systemProjectOf = (project: RemovableProject) => ({
  id: project.id,
  name: project.name,
  path: project.path,
  pathWithNamespace: project.path_with_namespace,
  visibilityLevel: project.visibility_level,
  owner: { name: project.owner_name, email: project.owner_email },
  createdAt: project.created_at,
  updatedAt: project.updated_at
})
