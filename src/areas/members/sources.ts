// A project or group as the rules about its members need it.
import { row } from '../../db/sql.js'
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

/** Reads a source by its id; undefined when it is gone. */
export async function findSource({ type, id }: MemberSource): Promise<Source | undefined> {
  if (type === 'namespace') {
    const group = await row<GroupRecord>("select id, name, path from namespaces where id = ? and kind = 'group'", [id])
    return group && sourceOfGroup(group)
  }
  const project = await row<SourceProject>(
    `select p.id, p.name, p.path, p.visibility_level, n.path as namespace_path, n.owner_id as namespace_owner_id
     from projects p join namespaces n on n.id = p.namespace_id where p.id = ?`,
    [id]
  )
  return project && sourceOfProject(project)
}
