// A project or group as the rules about its members need it.
import { row } from '../../../db/connect/sql.js'
import { NoSuch } from '../../../errors.js'
import { namespaceOfOldPath, projectOfOldPath } from '../../ground/paths/redirects.js'
import type { GroupRecord } from '../groups/groups.queries.js'
import type { Source } from './members.js'
import type { MemberSource } from './members.queries.js'

export interface SourceProject {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly visibility_level: number
  readonly namespace_path: string
  readonly namespace_owner_id: number | null
}

export function sourceOfProject(project: SourceProject): Source {
  const { id, name, path, visibility_level } = project
  const full = `${project.namespace_path}/${path}`
  return {
    type: 'project',
    id,
    path: full,
    ownerId: project.namespace_owner_id,
    snapshot: { type: 'project', id, name, path, path_with_namespace: full, visibility_level }
  }
}

export const sourceOfGroup = ({ id, name, path }: Pick<GroupRecord, 'id' | 'name' | 'path'>): Source => ({
  type: 'namespace',
  id,
  path,
  ownerId: null,
  snapshot: { type: 'namespace', id, name, path }
})

/** Returns a source by its id; undefined when it no longer exists. */
export async function findSource({ type, id }: MemberSource): Promise<Source | undefined> {
  if (type === 'namespace') {
    const group = await row<GroupRecord>("select id, name, path from namespaces where id = ? and kind = 'group'", [id])
    return group && sourceOfGroup(group)
  }
  const project = await row<SourceProject>(`${PROJECT} where p.id = ?`, [id])
  return project && sourceOfProject(project)
}

const PROJECT = `select p.id, p.name, p.path, p.visibility_level, n.path as namespace_path,
  n.owner_id as namespace_owner_id from projects p join namespaces n on n.id = p.namespace_id`

/**
 * Finds a source by the name that a person uses: NAMESPACE/PROJECT is a project, and a text without a slash is the path
 * or the number of a group. Old paths work too. Throws NoSuch.
 */
export async function requireSource(name: string): Promise<Source> {
  const [namespace = '', path, more] = name.split('/')
  const found = path === undefined ? await sourceGroup(name) : await sourceProject(namespace, path)
  if (!found || more !== undefined) throw new NoSuch(path === undefined ? 'group' : 'project', name)
  return found
}

async function sourceGroup(name: string): Promise<Source | undefined> {
  const where = "kind = 'group' and (path_key = lower(?) or id = ?) order by path_key = lower(?) desc limit 1"
  const number = /^\d{1,10}$/.test(name) ? Number(name) : 0
  const group = await row<GroupRecord>(`select id, name, path from namespaces where ${where}`, [name, number, name])
  if (group) return sourceOfGroup(group)
  const moved = await namespaceOfOldPath(name)
  return moved === undefined ? undefined : findSource({ type: 'namespace', id: moved })
}

async function sourceProject(namespace: string, path: string): Promise<Source | undefined> {
  const where = 'n.path_key = lower(?) and p.path_key = lower(?)'
  const project = await row<SourceProject>(`${PROJECT} where ${where}`, [namespace, path])
  if (project) return sourceOfProject(project)
  const moved = await projectOfOldPath(namespace, path)
  return moved === undefined ? undefined : findSource({ type: 'project', id: moved })
}
