// The members of groups that a text mentions. A group counts only when the author may see it.
import { actorOf } from '../../../access/actor.js'
import { ACTOR_USER, type ActorUserColumns, actorUserOf } from '../../../access/actor-user.js'
import { levelIn } from '../../../access/authorize.js'
import { type Fragment, lasts, membersOfProject, visibleGroups } from '../../../access/membership.js'
import { lowerMarks, marks, padded, row, rows } from '../../../db/connect/sql.js'
import { GUEST } from '../../../lib/levels.js'
import { findProject } from '../../projects/projects/projects.queries.js'

/**
 * Returns statements that read the members of the groups that an author mentions, and those of the project for `@all`,
 * as `user_id`. A text has at most 10,000 names (MOST_MENTIONS).
 */
export async function mentionedMembers(
  names: readonly string[],
  authorId: number,
  projectId: number
): Promise<Fragment[]> {
  const user = await row<ActorUserColumns>(`select ${ACTOR_USER} from users u where u.id = ?`, [authorId])
  if (!user) return []
  const author = actorOf(actorUserOf(user), 'private')
  const visible = visibleGroups(author)
  const list = padded(names)
  const groups = await rows<{ id: number }>(
    `select n.id from namespaces n where n.kind = 'group' and n.path_key in (${lowerMarks(list)}) and ${visible.sql}`,
    [...list, ...visible.values]
  )
  const sources = groups.length === 0 ? [] : [membersOf(groups.map(({ id }) => id))]
  if (!names.some(name => name.toLowerCase() === 'all')) return sources
  const project = await findProject(projectId, author)
  // Not specified: `@all` of a stranger. It reaches nobody, because strangers may write on public projects.
  if (!project || levelIn(project, author) < GUEST) return sources
  return [...sources, membersOfProject(project.id)]
}

const membersOf = (groups: readonly number[]): Fragment => ({
  sql: `select m.user_id from members m where m.source_type = 'namespace' and m.source_id in (${marks(groups)}) and ${lasts('m')}`,
  values: groups
})
