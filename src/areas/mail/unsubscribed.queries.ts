import { row } from '../../db/sql.js'
import type { LinkValues } from './links.js'

/** Returns what a link ends, as people write it: `group/project`, `group/project#1`, `group/project!1`; null when it is gone. */
export async function nameOfList({ projectId, target }: LinkValues['unsubscribe']): Promise<string | null> {
  const table = target && (target.type === 'Issue' ? 'issues' : 'merge_requests')
  const iid = table ? `(select t.iid from ${table} t where t.id = ?)` : 'null'
  const found = await row<{ path: string; iid: number | null }>(
    `select concat(n.path, '/', p.path) as path, ${iid} as iid
     from projects p join namespaces n on n.id = p.namespace_id where p.id = ?`,
    [...(target ? [target.id] : []), projectId]
  )
  if (!found || (target && found.iid === null)) return null
  return target ? `${found.path}${target.type === 'Issue' ? '#' : '!'}${found.iid}` : found.path
}
