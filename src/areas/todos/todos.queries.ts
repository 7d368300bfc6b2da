// Reads the to-dos of a user, as far as the user may still read what they are about.
import { type Actor, askerOf } from '../../access/actor.js'
import { type Fragment, levelBy, openLevels } from '../../access/membership.js'
import { countTotal, type Page, window } from '../../db/paginate.js'
import { execute, marks, row, rows, type Value } from '../../db/sql.js'
import { NotFound } from '../../errors.js'
import { GUEST, REPORTER } from '../../lib/levels.js'
import type { UserRow } from '../users/users.queries.js'
import type { TodoAction } from './todos.js'
import type { TodoFilter, TodoListQuery } from './todos.schema.js'

export interface TodoRow {
  readonly id: number
  readonly project_id: number
  readonly target_type: 'Issue' | 'MergeRequest' | 'Commit'
  /** Null for a commit. */
  readonly target_id: number | null
  readonly commit_id: string | null
  readonly note_id: number | null
  readonly action: TodoAction
  readonly state: 'pending' | 'done'
  readonly created_at: Date
  readonly author_id: number
  readonly author_name: string
  readonly author_username: string
  readonly author_state: UserRow['state']
  readonly project_name: string
  readonly project_path: string
  readonly storage: string
  readonly namespace_name: string
  readonly namespace_path: string
  readonly note: string | null
}

const COLUMNS = `t.id, t.project_id, t.target_type, t.target_id, t.commit_id, t.note_id, t.action, t.state, t.created_at,
  t.author_id, a.name as author_name, a.username as author_username, a.state as author_state, p.name as project_name,
  p.path as project_path, p.storage, w.name as namespace_name, w.path as namespace_path, n.note`
const NOTES = 'left join notes n on n.id = t.note_id'

/** To-dos with what they are about; `index` says how they are found. */
const joined = (index = '') => `todos t ${index} straight_join projects p on p.id = t.project_id
  straight_join namespaces w on w.id = p.namespace_id straight_join users a on a.id = t.author_id
  left join issues i on t.target_type = 'Issue' and i.id = t.target_id
  left join merge_requests r on t.target_type = 'MergeRequest' and r.id = t.target_id and r.deleted_at is null`
/** The index gives the to-dos of a user in their order, and the database reads on until the page is full. */
const IN_ORDER = 'force index (todos_list)'

const { level: LEVEL, joins: LEVELS } = levelBy('t.user_id')

/** The joins and the condition that the asker may read what a to-do is about. */
function readable(actor: Actor): { readonly joins: string; readonly condition: string } {
  const user = askerOf(actor)
  if (user.admin) return { joins: '', condition: aboutThings('true', 'true', 'true') }
  const from = (least: number) => `(w.owner_id = t.user_id or ${LEVEL} >= ${least})`
  const open = `p.visibility_level in (${openLevels(user).join(', ')})`
  const named = `(not i.confidential or i.author_id = t.user_id or i.assignee_id = t.user_id or ${from(REPORTER)})`
  const condition = aboutThings(`(${open} or ${from(GUEST)})`, `(${open} or ${from(REPORTER)})`, named)
  return { joins: LEVELS, condition }
}

/** By whether the asker sees the project, its code, and an issue of it. */
const aboutThings = (seen: string, code: string, issue: string): string =>
  `((i.id is not null and p.issues_enabled and ${seen} and ${issue})
    or (((r.id is not null and p.merge_requests_enabled) or t.target_type = 'Commit') and ${code}))`

/** The condition of a list. */
function listOf(actor: Actor, filter: TodoFilter): { readonly from: string; readonly where: Fragment } {
  const conditions: [sql: string, value: Value][] = [
    ['t.user_id = ?', askerOf(actor).id],
    ['t.state = ?', filter.state ?? 'pending']
  ]
  if (filter.action !== undefined) conditions.push(['t.action = ?', filter.action])
  if (filter.author_id !== undefined) conditions.push(['t.author_id = ?', filter.author_id])
  if (filter.project_id !== undefined) conditions.push(['t.project_id = ?', filter.project_id])
  if (filter.type !== undefined) conditions.push(['t.target_type = ?', filter.type])
  const { joins, condition } = readable(actor)
  return {
    from: `${joined(IN_ORDER)} ${joins}`,
    where: {
      sql: `${conditions.map(([sql]) => sql).join(' and ')} and ${condition}`,
      values: conditions.map(([, value]) => value)
    }
  }
}

/** A page of the to-dos of the asker, newest first. Two statements, and one where the page shows how many there are. */
export async function listTodos(query: TodoListQuery, actor: Actor): Promise<Page<TodoRow>> {
  const { page, perPage, sql: limit } = window(query)
  const { from, where } = listOf(actor, query)
  const items = await rows<TodoRow>(
    `select ${COLUMNS} from ${from} ${NOTES} where ${where.sql} order by t.id desc ${limit}`,
    where.values
  )
  const isLast = items.length < perPage && (items.length > 0 || page === 1)
  const total = isLast
    ? (page - 1) * perPage + items.length
    : await countTotal(`select count(*) as total from ${from} where ${where.sql}`, where.values)
  return { items, total, page, perPage }
}

/** Returns a to-do of the asker, pending or done. Throws NotFound for those of others, and for what is not to be read any more. */
export async function requireTodo(id: number, actor: Actor): Promise<TodoRow> {
  const { joins, condition } = readable(actor)
  const found = await row<TodoRow>(
    `select ${COLUMNS} from ${joined()} ${joins} ${NOTES} where t.id = ? and t.user_id = ? and ${condition}`,
    [id, askerOf(actor).id]
  )
  if (!found) throw new NotFound()
  return found
}

/** The ids of the pending to-dos of the asker below `before`, newest first. */
export async function pendingIds(
  filter: TodoFilter,
  actor: Actor,
  { before, most }: { readonly before: number; readonly most: number }
): Promise<number[]> {
  const { from, where } = listOf(actor, filter)
  const found = await rows<{ id: number }>(
    `select t.id from ${from} where t.id < ? and ${where.sql} order by t.id desc limit ${Math.trunc(most)}`,
    [before, ...where.values]
  )
  return found.map(({ id }) => id)
}

const REMOVED_AT_ONCE = 500

/**
 * Removes the to-dos of a user about what the user may not read any more, in a project, or in the projects of a group and those
 * that are shared with it.
 */
export async function removeUnreadable(
  actor: Actor,
  { type, id }: { readonly type: 'project' | 'namespace'; readonly id: number }
): Promise<void> {
  const { joins, condition } = readable(actor)
  const [within, ids] =
    type === 'project'
      ? ['p.id = ?', [id]]
      : [
          '(p.namespace_id = ? or exists (select 1 from project_group_links k where k.project_id = p.id and k.group_id = ?))',
          [id, id]
        ]
  for (;;) {
    const found = await rows<{ id: number }>(
      `select t.id from ${joined()} ${joins}
       where t.user_id = ? and ${within} and ${condition} is not true limit ${REMOVED_AT_ONCE}`,
      [askerOf(actor).id, ...ids]
    )
    if (found.length === 0) return
    await execute(
      `delete from todos where id in (${marks(found)})`,
      found.map(each => each.id)
    )
  }
}
