// Reads the to-dos of a user whose targets the user may still read.
import { type Actor, askerOf } from '../../../access/actor.js'
import { type Fragment, levelBy, openLevels } from '../../../access/membership.js'
import { VERSION } from '../../../db/connect/content.js'
import { execute, marks, padded, row, rows, type Value } from '../../../db/connect/sql.js'
import { shortTexts, withLongTexts } from '../../../db/lists/long-texts.js'
import { countTotal, type Page, type Window, window } from '../../../db/lists/paginate.js'
import { NotFound } from '../../../errors.js'
import { GUEST, OWNER, REPORTER } from '../../../lib/levels.js'
import type { UserRow } from '../../people/users/users.queries.js'
import { forgetList, type KeptList, keepList, keptList, MOST_KEPT } from './list-cache.js'
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
  /** The versions of what its project and all projects show (VERSION of db/connect/content.ts). */
  readonly project_version: number | null
  readonly all_version: number | null
}

const COLUMNS = `t.id, t.project_id, t.target_type, t.target_id, t.commit_id, t.note_id, t.action, t.state, t.created_at,
  t.author_id, a.name as author_name, a.username as author_username, a.state as author_state, p.name as project_name,
  p.path as project_path, p.storage, w.name as namespace_name, w.path as namespace_path, ${VERSION.columns}`
const SHORT = shortTexts('n.note')
/** The columns of a list, for `withNotes`. */
const LISTED = `${COLUMNS}, ${SHORT.text} as note, ${SHORT.bytes}`
const NOTES = 'left join notes n on n.id = t.note_id'

/**
 * To-dos with their targets; `index` selects the index that finds them. Lists use `straight_join` for all tables: the search for
 * a better order of nine tables took a sixth of the database time.
 */
const joined = (index = '') => `todos t ${index} straight_join projects p on p.id = t.project_id
  straight_join namespaces w on w.id = p.namespace_id straight_join users a on a.id = t.author_id ${VERSION.joins}
  left join issues i on t.target_type = 'Issue' and i.id = t.target_id
  left join merge_requests r on t.target_type = 'MergeRequest' and r.id = t.target_id and r.deleted_at is null`
/** The index returns the to-dos of a user in their order, and the database reads until the page is full. */
const IN_ORDER = 'force index (todos_list)'
/** Finds to-dos one by one by their ids. With another index, the database would first count how many there are of each. */
const BY_ID = 'force index (primary)'

const { level: LEVEL, ownLevel: OWN_LEVEL, joins: LEVELS } = levelBy('t.user_id')
const OF_CALLER = levelBy('u.id')

interface Readable {
  readonly joins: string
  readonly condition: string
  /** The same for projects without shares, and true for those with shares. */
  readonly maybe: string
}

/**
 * The joins and the condition that the caller may read the target of a to-do. The level appears there only once: each copy cost
 * the database 80 us more to plan.
 */
function readable(actor: Actor): Readable {
  const user = askerOf(actor)
  if (user.admin) {
    const condition = `(${leastLevel('true', 'true')} is not null)`
    return { joins: '', condition, maybe: condition }
  }
  const open = `p.visibility_level in (${openLevels(user).join(', ')})`
  const named = 'i.author_id = t.user_id or i.assignee_id = t.user_id'
  const least = leastLevel(open, `not i.confidential or ${named}`)
  const by = (level: string) => `(${least} = 0 or if(w.owner_id = t.user_id, ${OWNER}, ${level}) >= ${least})`
  return { joins: LEVELS, condition: by(LEVEL), maybe: `(${by(OWN_LEVEL)} or p.has_shares)` }
}

/**
 * The level that is needed to read the target of a to-do: 0 for everybody, null for nobody. It depends on whether the project is
 * open to the caller, and on `issue`, the condition for an issue.
 */
const leastLevel = (open: string, issue: string): string =>
  `case when i.id is not null then if(p.issues_enabled, greatest(if(${open}, 0, ${GUEST}), if(${issue}, 0, ${REPORTER})), null)
    when t.target_type = 'Commit' or (r.id is not null and p.merge_requests_enabled) then if(${open}, 0, ${REPORTER}) end`

interface List {
  readonly key: string
  readonly from: string
  readonly where: Fragment
  readonly readable: Readable
  readonly userId: number
  readonly state: 'pending' | 'done'
}

/** What a list reads: the to-dos of the caller that match the filter. */
function listOf(actor: Actor, filter: TodoFilter): List {
  const { id: userId, admin, external } = askerOf(actor)
  const state = filter.state ?? 'pending'
  const conditions: [sql: string, value: Value][] = [
    ['t.user_id = ?', userId],
    ['t.state = ?', state]
  ]
  const { action, author_id: author, project_id: project, type } = filter
  if (action !== undefined) conditions.push(['t.action = ?', action])
  if (author !== undefined) conditions.push(['t.author_id = ?', author])
  if (project !== undefined) conditions.push(['t.project_id = ?', project])
  if (type !== undefined) conditions.push(['t.target_type = ?', type])
  const able = readable(actor)
  return {
    key: [userId, admin, external, state, action, author, project, type].join(' '),
    from: `${joined(IN_ORDER)} ${able.joins}`,
    where: {
      sql: `${conditions.map(([sql]) => sql).join(' and ')} and ${able.condition}`,
      values: conditions.map(([, value]) => value)
    },
    readable: able,
    userId,
    state
  }
}

/**
 * A page of the to-dos of the caller, newest first. It takes one statement if the page shows the total, two if the list is cached, and
 * otherwise up to three. A page of a cached list with projects that have shares takes up to two more.
 */
export const listTodos = async (query: TodoListQuery, actor: Actor): Promise<Page<TodoRow>> =>
  (await pageUnlessSent(query, actor, () => false)) as Page<TodoRow>

/**
 * Does the same, and offers `send` what proves the page and all that its issues and merge requests show. Of a cached list, one statement
 * reads only that at first. Returns undefined as soon as `send` returns true.
 */
export async function pageUnlessSent(
  query: TodoListQuery,
  actor: Actor,
  send: (proof: string) => boolean
): Promise<Page<TodoRow> | undefined> {
  const part = window(query)
  const list = listOf(actor, query)
  const known = await keptList(list.key)
  const proof = known && (await proofOf(known, list, part))
  if (proof !== undefined && send(proof)) return undefined
  const kept = known && proof !== undefined && (await pageOfKept(known, list, part))
  if (known && !kept) forgetList(list.key)
  const page = kept || (await pageOfList(list, part))
  // A commit may disappear from its repository, which nothing here proves.
  const isProven = page.items.every(({ commit_id: commit }) => commit === null)
  // Of a kept page, `send` again: it only knows what is read from then on. The proof is older than the page, so it proves it as well.
  return isProven && send(kept ? (proof ?? '') : JSON.stringify(page)) ? undefined : page
}

/** Reads a page of a list that is not cached, and caches the list if it has more than this page. */
async function pageOfList(list: List, part: Window): Promise<Page<TodoRow>> {
  const { page, perPage } = part
  // Few users have more than one page, and a single page shows the total.
  const first = page === 1 ? await readPage(list, part.sql) : undefined
  if (first && first.length < perPage) return { items: first, total: first.length, page, perPage }
  const read = await keepList(list.key, { whole: () => wholeOf(list), todos: () => todosOf(list) })
  if (read && first) return { items: first, total: read.ids.length, page, perPage }
  const again = read && (await pageOfKept(read, list, part))
  if (again) return again
  const items = first ?? (await readPage(list, part.sql))
  const total = await countTotal(
    `select count(*) as total from ${list.from} where ${list.where.sql}`,
    list.where.values
  )
  return { items, total, page, perPage }
}

const readPage = async ({ from, where }: List, limit: string): Promise<TodoRow[]> =>
  withNotes(
    await rows<TodoRow>(
      `select straight_join ${LISTED} from ${from} ${NOTES} where ${where.sql} order by t.id desc ${limit}`,
      where.values
    )
  )

const withNotes = (found: readonly TodoRow[]): Promise<TodoRow[]> =>
  withLongTexts(found, { table: 'notes', column: 'note', idOf: todo => todo.note_id })

/** The to-dos of a list that can be cached, and one more than the limit for a longer list. */
const todosOf = ({ from, where }: List) =>
  rows<{ id: number; project_id: number }>(
    `select straight_join t.id, t.project_id from ${from} where ${where.sql} order by t.id desc limit ${MOST_KEPT + 1}`,
    where.values
  )

/**
 * Identifies the set of the to-dos of a user in one state by their number and a mix of their ids. An index has both, at 0.2
 * microseconds for each to-do; to check whether a to-do may be read takes a hundred times as long.
 */
const WHOLE = `(select concat(count(*), ' ', cast(bit_xor(o.id * 2654435761) as char)) from todos o force index (todos_list)
  where o.user_id = ? and o.state = ?)`

async function wholeOf({ userId, state }: Pick<List, 'userId' | 'state'>): Promise<string> {
  const found = await row<{ whole: string }>(`select ${WHOLE} as whole`, [userId, state])
  return found?.whole ?? ''
}

const placeOf = ({ page, perPage }: Window) => [(page - 1) * perPage, page * perPage] as const

/** Everything that decides about access to the targets in a project `p`, what to-dos show of it, and the version of its content. */
const OF_PROJECT = `p.id, p.name, p.path, p.visibility_level, p.issues_enabled, p.merge_requests_enabled, p.has_shares,
  w.name as namespace_name, w.path as namespace_path, w.owner_id, ${VERSION.columns}`

/**
 * Reads what proves a page of a cached list: the set of to-dos, which do not change themselves except for their state, and their projects.
 * Undefined when the list has changed.
 */
async function proofOf(
  { ids, projects, whole }: KeptList,
  { key, userId, state }: List,
  part: Window
): Promise<string | undefined> {
  const shown = ids.subarray(...placeOf(part))
  const text = (found: readonly object[]) => JSON.stringify([key, whole, ids.length, [...shown], found])
  if (shown.length === 0) return (await wholeOf({ userId, state })) === whole ? text([]) : undefined
  const list = padded([...new Set(projects.subarray(...placeOf(part)))])
  const read = (level: string) =>
    rows<{ readonly whole: string; readonly has_shares: number }>(
      `select ${OF_PROJECT}, ${level} as level, ${WHOLE} as whole from projects p straight_join namespaces w on w.id = p.namespace_id
       straight_join users u on u.id = ? ${VERSION.joins} ${OF_CALLER.joins} where p.id in (${marks(list)})`,
      [userId, state, userId, ...list]
    )
  const own = await read(OF_CALLER.ownLevel)
  const found = own.some(({ has_shares: has }) => has === 1) ? await read(OF_CALLER.level) : own
  return found.every(row => row.whole === whole) ? text(found) : undefined
}

/** Reads a page of a cached list. Undefined when a to-do has changed since, or when the user may no longer read one of the page. */
async function pageOfKept(
  { ids }: KeptList,
  { readable: able, userId, state }: List,
  part: Window
): Promise<Page<TodoRow> | undefined> {
  const { page, perPage } = part
  const wanted = [...ids.subarray(...placeOf(part))]
  if (wanted.length === 0) return { items: [], total: ids.length, page, perPage }
  const list = padded(wanted)
  const read = (condition: string) =>
    rows<TodoRow & { readonly has_shares: number }>(
      `select straight_join ${LISTED}, p.has_shares from ${joined(BY_ID)} ${able.joins} ${NOTES}
       where t.id in (${marks(list)}) and t.user_id = ? and t.state = ? and ${condition} order by t.id desc`,
      [...list, userId, state]
    )
  const found = await read(able.maybe)
  const items = found.some(item => item.has_shares === 1) ? await read(able.condition) : found
  if (items.length < wanted.length) return undefined
  // The page is the same as one that was read without the cache.
  return { items: await withNotes(items.map(({ has_shares: _, ...todo }) => todo)), total: ids.length, page, perPage }
}

/**
 * Returns a to-do of the caller, pending or done. Throws NotFound for to-dos of other users, and for targets that the caller may
 * no longer read.
 */
export async function requireTodo(id: number, actor: Actor): Promise<TodoRow> {
  const { joins, condition } = readable(actor)
  const found = await row<TodoRow>(
    `select ${COLUMNS}, n.note from ${joined()} ${joins} ${NOTES} where t.id = ? and t.user_id = ? and ${condition}`,
    [id, askerOf(actor).id]
  )
  if (!found) throw new NotFound()
  return found
}

/** The ids of the pending to-dos of the caller below `before`, newest first. */
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
 * Deletes the to-dos of a user whose targets the user may no longer read, in a project, or in the projects of a group and those
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
