// Frequent reads of merge requests.
import type { Actor } from '../../../access/actor.js'
import { publicUrl } from '../../../config.js'
import { type Fragment, marks, padded, row, rows } from '../../../db/connect/sql.js'
import { and, below, equals, isIn } from '../../../db/lists/conditions.js'
import { fromPlace, versionOf } from '../../../db/lists/keyset-cache.js'
import { shortTexts, withLongTexts } from '../../../db/lists/long-texts.js'
import {
  countTotal,
  isFar,
  PART,
  type Page,
  type PlacedReading,
  pageOfMoving,
  window
} from '../../../db/lists/paginate.js'
import { NotFound } from '../../../errors.js'
import type { UserRow } from '../../people/users/users.queries.js'
import { type ShownColumns, shownColumns, shownValues } from '../participation/readings.js'
import type { MergeRequestListQuery } from './merge-requests.schema.js'

export type MergeRequestState = 'opened' | 'reopened' | 'closed' | 'merged'
export type MergeStatus = 'unchecked' | 'can_be_merged' | 'cannot_be_merged'

export interface MergeRequestRow {
  readonly id: number
  readonly iid: number
  /** The target project, whose path contains the merge request. */
  readonly target_project_id: number
  /** The same project, or a fork, which may no longer exist. */
  readonly source_project_id: number
  readonly target_branch: string
  readonly source_branch: string
  readonly title: string
  /** Also null in the lists of commands, which leave it out. */
  readonly description: string | null
  readonly state: MergeRequestState
  readonly merge_status: MergeStatus
  /** The head of the latest version. */
  readonly head_sha: string | null
  readonly merge_commit_sha: string | null
  readonly merge_error: string | null
  readonly merge_when_build_succeeds: number
  readonly merge_user_id: number | null
  readonly merge_message: string | null
  readonly should_remove_source_branch: number | null
  readonly force_remove_source_branch: number | null
  readonly milestone_id: number | null
  readonly updated_by_id: number | null
  readonly time_estimate: number
  readonly total_time_spent: number
  readonly lock_version: number
  readonly created_at: Date
  readonly updated_at: Date
  readonly author_id: number
  readonly author_name: string
  readonly author_username: string
  readonly author_state: UserRow['state']
  readonly assignee_id: number | null
  /** Null when the assignee no longer exists. */
  readonly assignee_name: string | null
  readonly assignee_username: string | null
  readonly assignee_state: UserRow['state'] | null
  /** The path of the target project. */
  readonly project_path: string
  readonly namespace_path: string
}

const columnsWith = (description: string) => `m.id, m.iid, m.target_project_id, m.source_project_id, m.target_branch,
  m.source_branch, m.title, ${description} as description, m.state, m.merge_status, m.head_sha, m.merge_commit_sha, m.merge_error, m.merge_when_build_succeeds,
  m.merge_user_id, m.merge_message, m.should_remove_source_branch, m.force_remove_source_branch, m.milestone_id,
  m.updated_by_id, m.time_estimate, m.total_time_spent, m.lock_version, m.created_at, m.updated_at, m.author_id,
  m.assignee_id, a.name as author_name, a.username as author_username, a.state as author_state, s.name as assignee_name,
  s.username as assignee_username, s.state as assignee_state, p.path as project_path, n.path as namespace_path`
const COLUMNS = columnsWith('m.description')
const SHORT = shortTexts('m.description')
/** The columns of a list, for `withDescriptions`. */
const LISTED = `${columnsWith(SHORT.text)}, ${SHORT.bytes}`
const withDescriptions = (found: readonly ListedMergeRequestRow[]) =>
  withLongTexts(found, { table: 'merge_requests', column: 'description' })
// All joins are LEFT JOIN: with inner joins, the database begins with the projects or users, and sorts the page again.
const JOINS = `left join projects p on p.id = m.target_project_id left join namespaces n on n.id = p.namespace_id
  left join users a on a.id = m.author_id left join users s on s.id = m.assignee_id`
/** A merge request whose author or project was deleted does not count: a job removes it a moment later. */
const WHOLE = 'm.deleted_at is null and a.id is not null and n.id is not null'

const BY_ID = `select ${COLUMNS} from merge_requests m ${JOINS} where m.id = ? and ${WHOLE}`

/** Returns the URL of the page of a merge request. */
export const mergeRequestUrl = (row: Pick<MergeRequestRow, 'namespace_path' | 'project_path' | 'iid'>): string =>
  `${publicUrl()}/${row.namespace_path}/${row.project_path}/merge_requests/${row.iid}`

export const findMergeRequest = (id: number): Promise<MergeRequestRow | undefined> => row<MergeRequestRow>(BY_ID, [id])

/** A merge request with what its record shows to the caller of the statement. */
export interface ListedMergeRequestRow extends MergeRequestRow, ShownColumns {}

/** Finds merge requests by their ids. */
export async function findMergeRequests(ids: readonly number[], { user }: Actor): Promise<ListedMergeRequestRow[]> {
  if (ids.length === 0) return []
  const list = padded(ids)
  const found = await rows<ListedMergeRequestRow>(
    `select ${LISTED}, ${shownColumns('MergeRequest')} from merge_requests m ${JOINS}
     where m.id in (${marks(list)}) and ${WHOLE}`,
    [...shownValues(user?.id), ...list]
  )
  return withDescriptions(found)
}

/** Finds a merge request by its id and its target project. Throws NotFound. */
export async function requireMergeRequest(projectId: number, id: number): Promise<MergeRequestRow> {
  const found = await row<MergeRequestRow>(`${BY_ID} and m.target_project_id = ?`, [id, projectId])
  if (!found) throw new NotFound()
  return found
}

/** Finds a merge request that existed a moment ago. Throws NotFound. */
export async function reread({ id }: { readonly id: number }): Promise<MergeRequestRow> {
  const found = await findMergeRequest(id)
  if (!found) throw new NotFound()
  return found
}

/** Finds a merge request by its number in the project; undefined when the project has none with it. */
export const findByNumber = (projectId: number, iid: number): Promise<MergeRequestRow | undefined> =>
  row<MergeRequestRow>(
    `select ${COLUMNS} from merge_requests m ${JOINS}
     where m.target_project_id = ? and m.iid = ? and ${WHOLE}`,
    [projectId, iid]
  )

/** Finds a merge request by its number in the project. Throws NotFound. */
export async function requireByNumber(projectId: number, iid: number): Promise<MergeRequestRow> {
  const found = await findByNumber(projectId, iid)
  if (!found) throw new NotFound('Merge request')
  return found
}

/** Does the same, with what the record of the merge request shows to the caller. */
export async function requireShownByNumber(
  projectId: number,
  iid: number,
  { user }: Actor
): Promise<ListedMergeRequestRow> {
  const found = await row<ListedMergeRequestRow>(
    `select ${COLUMNS}, ${shownColumns('MergeRequest')} from merge_requests m ${JOINS}
     where m.target_project_id = ? and m.iid = ? and ${WHOLE}`,
    [...shownValues(user?.id), projectId, iid]
  )
  if (!found) throw new NotFound('Merge request')
  return found
}

export const inState = (state: MergeRequestListQuery['state'] = 'all'): Fragment =>
  state === 'all' ? { sql: 'm.deleted_at is null', values: [] } : { sql: 'm.phase = ?', values: [state] }

/** The maximum number of numbers in the filter of a list. */
const MOST_NUMBERS = 100

/** The index that contains the merge requests of a project in the order of a list, by the filter `state`. */
export const INDEXES = {
  all: { created_at: 'merge_requests_created', updated_at: 'merge_requests_updated' },
  one: { created_at: 'merge_requests_phase_created', updated_at: 'merge_requests_phase_updated' }
} as const

/** Returns a page of the merge requests into a project, with two statements for any length. */
export function listMergeRequests(
  projectId: number,
  query: MergeRequestListQuery,
  actor: Actor
): Promise<Page<ListedMergeRequestRow>> {
  const { state = 'all', order_by: order = 'created_at', iid } = query
  const where = and(
    equals('m.target_project_id', projectId),
    inState(state),
    isIn('m.iid', iid?.slice(0, MOST_NUMBERS))
  )
  // The database finds a few numbers by their own index.
  const index = iid ? undefined : INDEXES[state === 'all' ? 'all' : 'one'][order]
  return pageOf(where, query, actor, index)
}

/** Returns a page of the merge requests of a milestone. */
export const listOfMilestone = (
  milestoneId: number,
  query: MergeRequestListQuery,
  actor: Actor
): Promise<Page<ListedMergeRequestRow>> => pageOf(and(equals('m.milestone_id', milestoneId), inState()), query, actor)

export const countMergeRequests = ({ sql, values }: Fragment) =>
  countTotal(`select count(*) as total from merge_requests m where ${sql}`, values)

/** Which merge requests `m` a list has, and in which order. */
interface Listed {
  readonly where: Fragment
  readonly column: 'created_at' | 'updated_at'
  /** Has the list in its order. */
  readonly index: string | undefined
  readonly actor: Actor
}

/** Returns a page of the merge requests `m` that pass a condition; `index` has them in the order of the list. */
export async function pageOf(
  where: Fragment,
  query: MergeRequestListQuery,
  actor: Actor,
  index?: string
): Promise<Page<ListedMergeRequestRow>> {
  const column = query.order_by ?? 'created_at'
  const page = await pageOfMoving<ListedMergeRequestRow>(window(query), {
    key: JSON.stringify([column, where]),
    version: () => versionOf('MergeRequest'),
    direction: query.sort ?? 'desc',
    count: countMergeRequests(where),
    placed: row => ({ at: row[column], id: row.id }),
    read: reading => readPart({ where, column, index, actor }, reading, !isFar(window(query)))
  })
  return { ...page, items: page.items.filter(isWhole) }
}

/** Returns the newest merge requests `m` that pass a condition, and does not count the others. */
export async function newestOf(
  where: Fragment,
  most: number,
  actor: Actor,
  index?: string
): Promise<ListedMergeRequestRow[]> {
  const first = { direction: 'desc', sql: window({ page: 1, per_page: most }).sql, until: most } as const
  return (await readPart({ where, column: 'created_at', index, actor }, first, true)).filter(isWhole)
}

async function readPart(
  { where, column, index, actor }: Listed,
  { direction, sql: limit, from }: PlacedReading,
  near: boolean
): Promise<ListedMergeRequestRow[]> {
  const columns = `${LISTED}, ${shownColumns('MergeRequest')}`
  // When the database could choose the index, it read 2,000 entries up to a place that this index finds at once, on some
  // connections and not on others.
  const table = `merge_requests m ${index ? `force index (${index})` : ''}`
  const { sql, values } = and(where, from && fromPlace(`m.${column}`, 'm.id', direction, from))
  const inOrder = `where ${sql} order by m.${column} ${direction}, m.id ${direction} ${limit}`
  // The index has the first pages in their order. For others it gives the ids, so that the rows before them are not joined.
  const found = await rows<ListedMergeRequestRow>(
    index !== undefined && near
      ? `select ${columns} from ${table} ${JOINS} ${inOrder}`
      : `select ${columns} from (select m.id, m.${column} as place from ${table} ${inOrder}) page
         join merge_requests m on m.id = page.id ${JOINS} order by page.place ${direction}, page.id ${direction}`,
    [...shownValues(actor.user?.id), ...values]
  )
  return withDescriptions(found)
}

const isWhole = (row: { readonly [Key in 'author_name' | 'namespace_path']: string | null }): boolean =>
  row.author_name !== null && row.namespace_path !== null

/** Filters a list of merge requests. Without `projectId`, it contains those of all projects. */
export interface MergeRequestFilter {
  readonly projectId?: number
  readonly state: NonNullable<MergeRequestListQuery['state']>
}

const conditionOf = ({ projectId, state }: MergeRequestFilter): Fragment =>
  and(inState(state), equals('m.target_project_id', projectId))

/** Returns the newest merge requests that pass a filter, at most `limit`, without descriptions, and the total number. */
export async function listAllMergeRequests(filter: MergeRequestFilter, limit: number) {
  const [items, total] = await Promise.all([
    mergeRequestsBefore(filter, undefined, limit),
    countMergeRequests(conditionOf(filter))
  ])
  return { items, total }
}

/** Returns the next merge requests of such a list, after the one with the id `last`. */
export async function mergeRequestsBefore(
  filter: MergeRequestFilter,
  last?: number,
  most = PART
): Promise<MergeRequestRow[]> {
  const { sql, values } = and(conditionOf(filter), below('m.id', last))
  const found = await rows<MergeRequestRow>(
    `select ${columnsWith('null')} from (select m.id from merge_requests m where ${sql}
       order by m.id desc limit ${Math.trunc(most)}) page
     join merge_requests m on m.id = page.id ${JOINS} order by page.id desc`,
    values
  )
  return found.filter(isWhole)
}

/** The columns of an open merge request that pushes to its branches need. */
export interface OpenMergeRequest {
  readonly id: number
  readonly target_project_id: number
  readonly source_project_id: number
  readonly source_branch: string
  readonly head_sha: string | null
}

const OPEN = `select id, target_project_id, source_project_id, source_branch, head_sha from merge_requests
  where phase = 'opened' and`

/** The maximum number of merge requests that a push to one branch checks; the others are checked when somebody merges them. */
const MOST_OF_BRANCH = 2000

/** Returns the open merge requests from a branch, newest first. */
export const openFrom = (projectId: number, branch: string): Promise<OpenMergeRequest[]> =>
  rows<OpenMergeRequest>(
    `${OPEN} source_project_id = ? and source_branch = ? order by id desc limit ${MOST_OF_BRANCH}`,
    [projectId, branch]
  )

/** Returns the open merge requests into a branch, newest first. */
export const openInto = (projectId: number, branch: string): Promise<OpenMergeRequest[]> =>
  rows<OpenMergeRequest>(
    `${OPEN} target_project_id = ? and target_branch = ? order by id desc limit ${MOST_OF_BRANCH}`,
    [projectId, branch]
  )

/** Finds the open merge request of two branches. */
export const findOpen = (source: { readonly projectId: number; readonly branch: string }, target: typeof source) =>
  row<{ id: number; iid: number; title: string }>(
    `select id, iid, title from merge_requests where source_project_id = ? and source_branch = ? and target_project_id = ?
       and target_branch = ? and is_open = true`,
    [source.projectId, source.branch, target.projectId, target.branch]
  )
