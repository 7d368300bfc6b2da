// The users who have a level in a project: its members, members of its group and of the groups that it is shared with,
// and the owner of its namespace.
import { lasts } from '../../../access/membership.js'
import { rows, type Value } from '../../../db/connect/sql.js'
import { contains } from '../../../db/lists/conditions.js'
import { countTotal, type Page, window } from '../../../db/lists/paginate.js'
import type { UserRow } from '../../people/users/users.queries.js'
import type { ProjectUsersQuery } from './projects.schema.js'

export type ProjectUserRow = Pick<UserRow, 'id' | 'name' | 'username' | 'state'>

const WITH_LEVEL = `select m.user_id as id from members m
    where m.source_type = 'project' and m.source_id = ? and ${lasts('m')}
  union select m.user_id from members m
    where m.source_type = 'namespace' and m.source_id = ? and ${lasts('m')}
  union select m.user_id from project_group_links l join members m on m.source_type = 'namespace'
    and m.source_id = l.group_id and ${lasts('m')} where l.project_id = ? and ${lasts('l')}
  union select n.owner_id from namespaces n where n.id = ? and n.owner_id is not null`

/** Returns a page of the users with a level, oldest first. Not specified: the order. Takes two statements for any length. */
export async function listProjectUsers(
  { id, namespace_id: namespaceId }: { readonly id: number; readonly namespace_id: number },
  query: ProjectUsersQuery
): Promise<Page<ProjectUserRow>> {
  const values: Value[] = [id, namespaceId, id, namespaceId]
  const conditions: string[] = []
  if (query.search) {
    // Not specified: whether the search includes addresses. It does not, because everybody may search in a public project.
    const found = contains(['u.name', 'u.username'], query.search)
    conditions.push(`where ${found.sql}`)
    values.push(...found.values)
  }
  const from = `from (${WITH_LEVEL}) w join users u on u.id = w.id ${conditions.join('')}`
  const { page, perPage, sql } = window(query)
  const [items, total] = await Promise.all([
    rows<ProjectUserRow>(`select u.id, u.name, u.username, u.state ${from} order by u.id ${sql}`, values),
    countTotal(`select count(*) as total ${from}`, values)
  ])
  return { items, total, page, perPage }
}
