// Hot reads of merge requests.
import type { Actor } from '../../access/actor.js'
import { countTotal, type Page, type PlacedReading, pageOfMoving, window } from '../../db/paginate.js'
import { fromPlace, versionOf } from '../../db/places.js'
import { marks, padded, row, rows, type Value } from '../../db/sql.js'
import { NotFound } from '../../errors.js'
import { type ShownColumns, shownColumns, shownValues } from '../participation/readings.js'
import type { UserRow } from '../users/users.queries.js'
import type { MergeRequestListQuery } from './merge-requests.schema.js'

export type MergeRequestState = 'opened' | 'reopened' | 'closed' | 'merged'
export type MergeStatus = 'unchecked' | 'can_be_merged' | 'cannot_be_merged'

export interface MergeRequestRow {
  readonly id: number
  readonly iid: number
  /** The project that it wants to change, under whose path it is found. */
  readonly target_project_id: number
  /** The same project, or a fork, which may be gone. */
  readonly source_project_id: number
  readonly target_branch: string
  readonly source_branch: string
  readonly title: string
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
  /** Null when the assignee is gone. */
  readonly assignee_name: string | null
  readonly assignee_username: string | null
  readonly assignee_state: UserRow['state'] | null
  /** Of the target. */
  readonly project_path: string
  readonly namespace_path: string
}

const COLUMNS = `m.id, m.iid, m.target_project_id, m.source_project_id, m.target_branch, m.source_branch, m.title,
  m.description, m.state, m.merge_status, m.head_sha, m.merge_commit_sha, m.merge_error, m.merge_when_build_succeeds,
  m.merge_user_id, m.merge_message, m.should_remove_source_branch, m.force_remove_source_branch, m.milestone_id,
  m.updated_by_id, m.time_estimate, m.total_time_spent, m.lock_version, m.created_at, m.updated_at, m.author_id,
  m.assignee_id, a.name as author_name, a.username as author_username, a.state as author_state, s.name as assignee_name,
  s.username as assignee_username, s.state as assignee_state, p.path as project_path, n.path as namespace_path`
// All joins are LEFT JOIN: with inner ones, the database begins with the projects or users, and sorts the page again.
const JOINS = `left join projects p on p.id = m.target_project_id left join namespaces n on n.id = p.namespace_id
  left join users a on a.id = m.author_id left join users s on s.id = m.assignee_id`
/** One whose author or project is gone goes too: a job removes it a moment later. */
const WHOLE = 'm.deleted_at is null and a.id is not null and n.id is not null'

const BY_ID = `select ${COLUMNS} from merge_requests m ${JOINS} where m.id = ? and ${WHOLE}`

export const findMergeRequest = (id: number): Promise<MergeRequestRow | undefined> => row<MergeRequestRow>(BY_ID, [id])

/** A merge request with what its record shows to the asker of the statement. */
export interface ListedMergeRequestRow extends MergeRequestRow, ShownColumns {}

/** Finds merge requests by their ids. */
export async function findMergeRequests(ids: readonly number[], { user }: Actor): Promise<ListedMergeRequestRow[]> {
  if (ids.length === 0) return []
  const list = padded(ids)
  return rows<ListedMergeRequestRow>(
    `select ${COLUMNS}, ${shownColumns('MergeRequest')} from merge_requests m ${JOINS}
     where m.id in (${marks(list)}) and ${WHOLE}`,
    [...shownValues(user?.id), ...list]
  )
}

/** Finds a merge request into a project by its id. Throws NotFound. */
export async function requireMergeRequest(projectId: number, id: number): Promise<MergeRequestRow> {
  const found = await row<MergeRequestRow>(`${BY_ID} and m.target_project_id = ?`, [id, projectId])
  if (!found) throw new NotFound()
  return found
}

/** Finds a merge request that was there a moment ago. Throws NotFound. */
export async function reread({ id }: { readonly id: number }): Promise<MergeRequestRow> {
  const found = await findMergeRequest(id)
  if (!found) throw new NotFound()
  return found
}

/** Finds a merge request by the number that people see; undefined when the project has none with it. */
export const findByNumber = (projectId: number, iid: number): Promise<MergeRequestRow | undefined> =>
  row<MergeRequestRow>(
    `select ${COLUMNS} from merge_requests m ${JOINS}
     where m.target_project_id = ? and m.iid = ? and ${WHOLE}`,
    [projectId, iid]
  )

/** The numbers that one request may list. */
const MOST_NUMBERS = 100

/** What a list reads. */
interface Listed {
  /** The index that gives the merge requests in the order of the list; by itself, the database chooses. */
  readonly index?: string
  readonly sql: string
  readonly values: readonly Value[]
}

/** Returns a page of the merge requests into a project. Two statements for any length. */
export function listMergeRequests(
  projectId: number,
  query: MergeRequestListQuery,
  actor: Actor
): Promise<Page<ListedMergeRequestRow>> {
  const { state = 'all', order_by: order, iid } = query
  const ofState =
    state === 'all'
      ? { phase: '', sql: 'm.deleted_at is null', values: [] }
      : { phase: 'phase_', sql: 'm.phase = ?', values: [state] }
  const sql = `m.target_project_id = ? and ${ofState.sql}`
  const values = [projectId, ...ofState.values]
  if (!iid) {
    const index = `merge_requests_${ofState.phase}${order === 'updated_at' ? 'updated' : 'created'}`
    return pageOf({ index, sql, values }, query, actor)
  }
  const numbers = iid.slice(0, MOST_NUMBERS)
  return pageOf({ sql: `${sql} and m.iid in (${marks(numbers)})`, values: [...values, ...numbers] }, query, actor)
}

/** Returns a page of the merge requests of a milestone. */
export function listOfMilestone(
  milestoneId: number,
  query: MergeRequestListQuery,
  actor: Actor
): Promise<Page<ListedMergeRequestRow>> {
  return pageOf({ sql: 'm.milestone_id = ? and m.deleted_at is null', values: [milestoneId] }, query, actor)
}

async function pageOf(
  { index, sql: condition, values }: Listed,
  query: MergeRequestListQuery,
  { user }: Actor
): Promise<Page<ListedMergeRequestRow>> {
  const column = query.order_by ?? 'created_at'
  const read = ({ direction, sql, from }: PlacedReading) => {
    const place = from && fromPlace(`m.${column}`, 'm.id', direction, from)
    // An index gives the ids of the page; only their rows are read. Free to choose, the database read 2,000 entries up to a place
    // that the index finds at once, on some connections and not on others.
    const ids = `select m.id, m.${column} as place from merge_requests m ${index ? `force index (${index})` : ''}
      where ${condition}${place ? ` and ${place.sql}` : ''} order by m.${column} ${direction}, m.id ${direction} ${sql}`
    return rows<ListedMergeRequestRow>(
      `select ${COLUMNS}, ${shownColumns('MergeRequest')} from (${ids}) page join merge_requests m on m.id = page.id ${JOINS}
       order by page.place ${direction}, page.id ${direction}`,
      [...shownValues(user?.id), ...values, ...(place?.values ?? [])]
    )
  }
  const page = await pageOfMoving(window(query), {
    key: JSON.stringify([column, condition, values]),
    version: () => versionOf('MergeRequest'),
    direction: query.sort ?? 'desc',
    count: countTotal(`select count(*) as total from merge_requests m where ${condition}`, values),
    placed: row => ({ at: row[column], id: row.id }),
    read
  })
  return { ...page, items: page.items.filter(isWhole) }
}

const isWhole = (row: { readonly [Key in 'author_name' | 'namespace_path']: string | null }): boolean =>
  row.author_name !== null && row.namespace_path !== null

/** An open merge request as far as pushes to its branches need it. */
export interface OpenMergeRequest {
  readonly id: number
  readonly target_project_id: number
  readonly source_project_id: number
  readonly source_branch: string
  readonly head_sha: string | null
}

const OPEN = `select id, target_project_id, source_project_id, source_branch, head_sha from merge_requests
  where phase = 'opened' and`

/** The most that a push to one branch looks at; the others are looked at when somebody merges them. */
const MOST_OF_BRANCH = 2000

/** Open merge requests from a branch, the newest first. */
export const openFrom = (projectId: number, branch: string): Promise<OpenMergeRequest[]> =>
  rows<OpenMergeRequest>(
    `${OPEN} source_project_id = ? and source_branch = ? order by id desc limit ${MOST_OF_BRANCH}`,
    [projectId, branch]
  )

/** Open merge requests into a branch, the newest first. */
export const openInto = (projectId: number, branch: string): Promise<OpenMergeRequest[]> =>
  rows<OpenMergeRequest>(
    `${OPEN} target_project_id = ? and target_branch = ? order by id desc limit ${MOST_OF_BRANCH}`,
    [projectId, branch]
  )

/** Finds the open merge request of two branches. */
export const findOpen = (source: { readonly projectId: number; readonly branch: string }, target: typeof source) =>
  row<{ id: number; title: string }>(
    `select id, title from merge_requests where source_project_id = ? and source_branch = ? and target_project_id = ?
       and target_branch = ? and is_open = true`,
    [source.projectId, source.branch, target.projectId, target.branch]
  )
