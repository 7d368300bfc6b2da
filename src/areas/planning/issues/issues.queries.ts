import type { Actor } from '../../../access/actor.js'
import { type Fragment, projectsOfMember } from '../../../access/membership.js'
import { publicUrl } from '../../../config.js'
import { findTogether } from '../../../db/connect/batching.js'
import { marks, padded, row, rows } from '../../../db/connect/sql.js'
import { ALL } from '../../../db/lists/conditions.js'
import { shortTexts, withLongTexts } from '../../../db/lists/long-texts.js'
import { NoSuch, NotFound } from '../../../errors.js'
import { REPORTER } from '../../../lib/levels.js'
import type { UserRow } from '../../people/users/users.queries.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { type ShownColumns, shownColumns, shownValues } from '../participation/readings.js'
import { seesConfidential } from '../participation/visible-issues.js'

export interface IssueRow {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly title: string
  /** Also null in the lists of commands, which leave it out. */
  readonly description: string | null
  readonly state: string
  readonly confidential: number
  readonly author_id: number
  readonly assignee_id: number | null
  readonly milestone_id: number | null
  /** YYYY-MM-DD. */
  readonly due_date: string | null
  readonly updated_by_id: number | null
  readonly moved_to_id: number | null
  readonly time_estimate: number
  readonly total_time_spent: number
  readonly lock_version: number
  readonly created_at: Date
  readonly updated_at: Date
  readonly project_path: string
  readonly namespace_path: string
  readonly author_name: string
  readonly author_username: string
  readonly author_state: UserRow['state']
  /** Null when the assignee no longer exists. */
  readonly assignee_name: string | null
  readonly assignee_username: string | null
  readonly assignee_state: UserRow['state'] | null
}

export const columnsWith = (description: string) =>
  `i.id, i.iid, i.project_id, i.title, ${description} as description, i.state, i.confidential, i.author_id, i.assignee_id,
  i.milestone_id, date_format(i.due_date, '%Y-%m-%d') as due_date, i.updated_by_id, i.moved_to_id, i.time_estimate,
  i.total_time_spent, i.lock_version, i.created_at, i.updated_at, p.path as project_path, n.path as namespace_path,
  a.name as author_name, a.username as author_username, a.state as author_state,
  e.name as assignee_name, e.username as assignee_username, e.state as assignee_state`
const COLUMNS = columnsWith('i.description')

const SHORT = shortTexts('i.description')
/** The columns of a list, for `withDescriptions`. */
export const LISTED = `${columnsWith(SHORT.text)}, ${SHORT.bytes}`
export const withDescriptions = <Row extends IssueRow>(found: readonly Row[]): Promise<Row[]> =>
  withLongTexts<Row>(found, { table: 'issues', column: 'description' })

/** Returns the joins of an issue `i`. With `left join` they keep the issues of a removed project, until a job has removed them. */
export const joinsBy = (join: 'join' | 'left join') => `${join} projects p on p.id = i.project_id
  ${join} namespaces n on n.id = p.namespace_id ${join} users a on a.id = i.author_id left join users e on e.id = i.assignee_id`
const JOINS = joinsBy('join')

/** Returns the URL of the page of an issue. */
export const issueUrl = ({ namespace_path, project_path, iid }: IssueRow): string =>
  `${publicUrl()}/${namespace_path}/${project_path}/issues/${iid}`

const SELECT = `select ${COLUMNS} from issues i ${JOINS}`

/** Returns the condition that the caller may see the issue `i` of any project that the caller may see. */
export function readableIssues({ user }: Actor): Fragment {
  if (user?.admin) return ALL
  const id = user?.id ?? 0
  const mine = projectsOfMember(id)
  return {
    sql: `(i.confidential = false or i.author_id = ? or i.assignee_id = ?
      or i.project_id in (select mine.id from (${mine.sql}) mine where mine.level >= ${REPORTER}))`,
    values: [id, id, ...mine.values]
  }
}

/** Finds an issue by its id, without a check of access. */
export const findIssue = (id: number): Promise<IssueRow | undefined> => row<IssueRow>(`${SELECT} where i.id = ?`, [id])

/** Does the same for jobs: those that look for issues at the same time share a statement. */
export const findToldIssue = findTogether<IssueRow>(ids => {
  const list = padded(ids)
  return rows(`${SELECT} where i.id in (${marks(list)})`, list)
})

/** Returns an issue that existed a moment ago. Throws NotFound. */
export async function foundAgain(id: number): Promise<IssueRow> {
  const found = await findIssue(id)
  if (!found) throw new NotFound()
  return found
}

/** An issue with what its record shows to the caller of the statement. */
export interface ListedIssueRow extends IssueRow, ShownColumns {}

/** Finds issues by their ids, without a check of access. */
export async function findIssues(ids: readonly number[], { user }: Actor): Promise<ListedIssueRow[]> {
  if (ids.length === 0) return []
  const list = padded(ids)
  // In this order: the search for a better one takes longer than the rows.
  const found = await rows<ListedIssueRow>(
    `select straight_join ${LISTED}, ${shownColumns('Issue')} from issues i ${JOINS} where i.id in (${marks(list)})`,
    [...shownValues(user?.id), ...list]
  )
  return withDescriptions(found)
}

/** Finds an issue by its number in a project, without a check of access. */
export const findIssueByNumber = (projectId: number, iid: number): Promise<IssueRow | undefined> =>
  row<IssueRow>(`${SELECT} where i.project_id = ? and i.iid = ?`, [projectId, iid])

/** Finds several issues by their numbers, with one statement. Those that do not exist are left out. */
export async function findIssuesByNumbers(
  numbers: readonly { readonly projectId: number; readonly iid: number }[]
): Promise<IssueRow[]> {
  if (numbers.length === 0) return []
  const list = padded(numbers)
  const each = list.map(() => '(i.project_id = ? and i.iid = ?)').join(' or ')
  return rows<IssueRow>(
    `${SELECT} where ${each}`,
    list.flatMap(({ projectId, iid }) => [projectId, iid])
  )
}

/** Finds an issue for a command. Throws NoSuch. */
export async function requireIssueByNumber(projectId: number, iid: number): Promise<IssueRow> {
  const found = await findIssueByNumber(projectId, iid)
  if (!found) throw new NoSuch('issue', iid)
  return found
}

/** Whether the caller may see an issue of a project that the caller may see. */
export const canSeeIssue = (issue: IssueAccess, project: ProjectRow, actor: Actor): boolean =>
  issue.confidential === 0 ||
  seesConfidential(project, actor) ||
  (actor.user !== null && (issue.author_id === actor.user.id || issue.assignee_id === actor.user.id))

/** Finds an issue of a project that the caller may see. Throws NotFound with the name `what`. */
export async function requireIssue(project: ProjectRow, id: number, actor: Actor, what?: string): Promise<IssueRow> {
  const issue = await row<IssueRow>(`${SELECT} where i.id = ? and i.project_id = ?`, [id, project.id])
  return visible(issue, project, actor, what)
}

/** Does the same, with what the record of the issue shows. */
export async function requireShownIssue(project: ProjectRow, id: number, actor: Actor): Promise<ListedIssueRow> {
  const issue = await row<ListedIssueRow>(
    `select ${COLUMNS}, ${shownColumns('Issue')} from issues i ${JOINS} where i.id = ? and i.project_id = ?`,
    [...shownValues(actor.user?.id), id, project.id]
  )
  return visible(issue, project, actor)
}

/** Does the same with the number of the issue in the project. */
export async function requireNumberedIssue(project: ProjectRow, iid: number, actor: Actor): Promise<ListedIssueRow> {
  const issue = await row<ListedIssueRow>(
    `select ${COLUMNS}, ${shownColumns('Issue')} from issues i ${JOINS} where i.project_id = ? and i.iid = ?`,
    [...shownValues(actor.user?.id), project.id, iid]
  )
  return visible(issue, project, actor)
}

type IssueAccess = Pick<IssueRow, 'confidential' | 'author_id' | 'assignee_id'>

/** Does the same, with only what decides who may see the issue. Undefined when the caller may not. */
export async function findIssueAccess(project: ProjectRow, id: number, actor: Actor): Promise<IssueAccess | undefined> {
  const issue = await row<IssueAccess>(
    `select i.confidential, i.author_id, i.assignee_id from issues i join users a on a.id = i.author_id
     where i.id = ? and i.project_id = ?`,
    [id, project.id]
  )
  return issue && canSeeIssue(issue, project, actor) ? issue : undefined
}

function visible<Row extends IssueAccess>(
  issue: Row | undefined,
  project: ProjectRow,
  actor: Actor,
  what?: string
): Row {
  if (!issue || !canSeeIssue(issue, project, actor)) throw new NotFound(what)
  return issue
}
