import { type SeenProject, usersWhoSee } from '../../../access/membership.js'
import { row } from '../../../db/connect/sql.js'
import type { LinkValues } from './links.js'

interface Listed extends SeenProject {
  readonly path: string
  readonly iid: number | null
}

/**
 * Returns what a link unsubscribes from, as people write it: `group/project`, `group/project#1`, `group/project!1`; null when it
 * no longer exists. The link works forever, so it names nothing to people who can no longer see the project.
 */
export async function nameOfList({ userId, projectId, target }: LinkValues['unsubscribe']): Promise<string | null> {
  const table = target && (target.type === 'Issue' ? 'issues' : 'merge_requests')
  const iid = table ? `(select t.iid from ${table} t where t.id = ?)` : 'null'
  const found = await row<Listed>(
    `select p.id, p.visibility_level, p.has_shares, concat(n.path, '/', p.path) as path, ${iid} as iid
     from projects p join namespaces n on n.id = p.namespace_id where p.id = ?`,
    [...(target ? [target.id] : []), projectId]
  )
  if (!found || (target && found.iid === null)) return null
  const { sql, values } = usersWhoSee(found)
  if (!(await row(`select 1 from users u where u.id = ? and ${sql}`, [userId, ...values]))) {
    return 'a project that you can no longer see'
  }
  return target ? `${found.path}${target.type === 'Issue' ? '#' : '!'}${found.iid}` : found.path
}
