import { nobody } from '../../../access/actor.js'
import { type Fragment, usersWhoSee } from '../../../access/membership.js'
import { row } from '../../../db/connect/sql.js'
import { TARGET_TABLES } from '../../planning/participation/targets.js'
import { findProject } from '../../projects/projects/projects.queries.js'
import type { LinkValues } from '../mail/links.js'
import { readersOf } from '../todos/readers.js'

/**
 * Returns what a link unsubscribes from, as people write it: `group/project`, `group/project#1`, `group/project!1`; null when it
 * no longer exists. The link works forever, so it names nothing to people who can no longer read it.
 */
export async function nameOfList({
  userId,
  projectId,
  target,
  pipelines
}: LinkValues['unsubscribe']): Promise<string | null> {
  const project = await findProject(projectId, nobody)
  const found = target
    ? await row<{ iid: number }>(`select iid from ${TARGET_TABLES[target.type]} where id = ?`, [target.id])
    : undefined
  if (!project || (target && !found)) return null
  if (!(await isReader(userId, usersWhoSee(project)))) return 'a project that you can no longer see'
  const path = `${project.namespace_path}/${project.path}`
  if (!target || !found) return pipelines ? `pipelines of ${path}` : path
  const [sign, words] = target.type === 'Issue' ? ['#', 'an issue'] : ['!', 'a merge request']
  const readers = await readersOf({ ...target, projectId })
  const readable = readers !== undefined && (await isReader(userId, readers))
  return readable ? `${path}${sign}${found.iid}` : `${words} that you can no longer see`
}

const isReader = async (userId: number, { sql, values }: Fragment): Promise<boolean> =>
  (await row(`select 1 from users u where u.id = ? and ${sql}`, [userId, ...values])) !== undefined
