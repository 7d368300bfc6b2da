import type { Actor } from '../../../access/actor.js'
import { groupsOfMember } from '../../../access/membership.js'
import { row, rows, type Value } from '../../../db/connect/sql.js'
import { contains } from '../../../db/lists/conditions.js'
import { countTotal, type Page, window } from '../../../db/lists/paginate.js'
import type { NamespaceListQuery } from './namespaces.schema.js'

export interface NamespaceRow {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly kind: 'user' | 'group'
}

/** Returns a page of the caller's own namespace and the groups of which the caller is a member; administrators get all. */
export async function listNamespaces(query: NamespaceListQuery, actor: Actor): Promise<Page<NamespaceRow>> {
  const conditions: string[] = []
  const values: Value[] = []
  if (!actor.user?.admin) {
    const groups = groupsOfMember(actor)
    conditions.push(`(n.owner_id = ? or (n.kind = 'group' and ${groups.sql}))`)
    values.push(actor.user?.id ?? 0, ...groups.values)
  }
  if (query.search) {
    const found = contains(['n.name', 'n.path'], query.search)
    conditions.push(found.sql)
    values.push(...found.values)
  }
  const from = `from namespaces n ${conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''}`
  const { page, perPage, sql } = window(query)
  const [items, total] = await Promise.all([
    rows<NamespaceRow>(`select n.id, n.name, n.path, n.kind ${from} order by n.id ${sql}`, values),
    countTotal(`select count(*) as total ${from}`, values)
  ])
  return { items, total, page, perPage }
}

/** The namespace that has a path now, or had it before; without a check of access. */
export async function findNamespace(
  path: string
): Promise<(NamespaceRow & { readonly owner_id: number | null }) | undefined> {
  const columns = 'n.id, n.name, n.path, n.kind, n.owner_id'
  return row(
    `select ${columns}, 0 as old from namespaces n where n.path_key = lower(?)
     union all select ${columns}, 1 from namespace_redirects r join namespaces n on n.id = r.namespace_id where r.path_key = lower(?)
     order by old limit 1`,
    [path, path]
  )
}
