// A copy of a project for events, which listeners can use after the row is removed.
import { rows } from '../../../db/connect/sql.js'
import { NotFound } from '../../../errors.js'

/** A project with all attributes that system events contain. */
export interface ProjectSnapshot {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly path_with_namespace: string
  readonly storage: string
  readonly visibility_level: number
  readonly created_at: Date
  readonly updated_at: Date
  /** The name of the user who owns the project's namespace, or of the group. */
  readonly owner_name: string
  /** Empty for the project of a group. */
  readonly owner_email: string
}

const SELECT = `select p.id, p.name, p.path, concat(n.path, '/', p.path) as path_with_namespace, p.storage,
  p.visibility_level, p.created_at, p.updated_at, coalesce(o.name, n.name) as owner_name,
  coalesce(o.email, '') as owner_email
  from projects p join namespaces n on n.id = p.namespace_id
  left join users o on o.id = n.owner_id and n.kind = 'user'`

/** Returns the projects in a user's own namespace, ordered by path. */
export function personalProjects(userId: number): Promise<ProjectSnapshot[]> {
  return rows<ProjectSnapshot>(`${SELECT} where n.kind = 'user' and n.owner_id = ? order by p.path`, [userId])
}

/** Returns the projects in a namespace, ordered by path. */
export function projectsOfNamespace(namespaceId: number): Promise<ProjectSnapshot[]> {
  return rows<ProjectSnapshot>(`${SELECT} where p.namespace_id = ? order by p.path`, [namespaceId])
}

/** Returns one project. Throws NotFound when it no longer exists. */
export async function projectSnapshot(id: number): Promise<ProjectSnapshot> {
  const [found] = await rows<ProjectSnapshot>(`${SELECT} where p.id = ?`, [id])
  if (!found) throw new NotFound('Project')
  return found
}
