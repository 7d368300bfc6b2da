// Where a sysadmin creates a project, and on behalf of which user. Every project of the API has a creator.
import { row } from '../../../db/connect/sql.js'
import { Conflict, NoSuch } from '../../../errors.js'
import { requireUser, type UserRow } from '../../people/users/users.queries.js'

export interface Place {
  readonly namespaceId: number
  /** The part of the path after the slash. */
  readonly path: string
  readonly creator: UserRow
}

/**
 * Finds the place for a new project NAMESPACE/PATH. In the namespace of a user, that user is the creator; in a group, `creator`
 * or else its longest-standing owner. Throws NoSuch for an unknown namespace or user, Conflict when a group has no active owner.
 */
export async function placeOfNewProject(name: string, creator?: string): Promise<Place> {
  const [namespace = '', path = '', more] = name.split('/')
  const found = await row<{ id: number; kind: 'user' | 'group'; owner_id: number | null; path: string }>(
    'select id, kind, owner_id, path from namespaces where path_key = lower(?)',
    [namespace]
  )
  if (!found) throw new NoSuch('namespace', namespace)
  if (path === '' || more !== undefined) throw new NoSuch('namespace', name)
  const place = { namespaceId: found.id, path }
  if (creator !== undefined) return { ...place, creator: await requireUser(creator) }
  if (found.kind === 'user') return { ...place, creator: await requireUser(found.path) }
  return { ...place, creator: await firstOwner(found) }
}

async function firstOwner({ id, path }: { readonly id: number; readonly path: string }): Promise<UserRow> {
  const owner = await row<{ username: string }>(
    `select u.username from members m join users u on u.id = m.user_id and u.state = 'active'
     where m.source_type = 'namespace' and m.source_id = ? and m.access_level = 50 order by m.id limit 1`,
    [id]
  )
  if (!owner)
    throw new Conflict(`the group ${path} has no active owner: name the creator of the project with --creator`)
  return requireUser(owner.username)
}
