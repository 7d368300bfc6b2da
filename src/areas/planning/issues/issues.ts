// Changes and deletes issues. creation.ts creates them, and move.ts moves them.
import type { Actor } from '../../../access/actor.js'
import { askerOf } from '../../../access/actor.js'
import { authorizeProject, may } from '../../../access/authorize.js'
import { authorizeRecord, mayOnRecord } from '../../../access/records.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { deleteRows } from '../../../db/ownership/owned-rows.js'
import { BadParameters, NotFound } from '../../../errors.js'
import { addedMentions, type RecordTexts, readEdit, textOf } from '../../../text/mentions.js'
import { requireVersion } from '../../../text/versions.js'
import { holdProject, type ProjectRow } from '../../projects/projects/projects.queries.js'
import { editedTitles, type LabelEdit, labelsFor, replaceLabels } from '../labels/label-links.js'
import { renewWords } from '../participation/search-words.js'
import { countIssues, recountIssue } from './issue-counts.js'
import { type IssueChanges, publishIssue } from './issue-events.js'
import { type IssueValues, readTime, readValues } from './issue-values.js'
import { foundAgain, type IssueRow, requireIssue } from './issues.queries.js'
import { IssueChange } from './issues.schema.js'

/** A change of an issue. Commands edit the labels that the issue has at that moment. */
type IssueUpdate = Omit<IssueChange, 'labels'> & {
  readonly labels?: IssueChange['labels'] | LabelEdit
  /** The version of the title and the description that the caller has read (text/versions.ts). */
  readonly version?: string
}

/**
 * Changes an issue, and closes or reopens it; ignores an event that does not fit its state. Throws NotFound, Forbidden,
 * Invalid, BadParameters when the request changes nothing, and Stale when its texts have another version.
 */
export async function updateIssue(
  project: ProjectRow,
  id: number,
  change: IssueUpdate,
  actor: Actor
): Promise<IssueRow> {
  requireSomething(change)
  const issue = await requireIssue(project, id, actor)
  authorizeUpdate(actor, project, issue)
  const { state_event: event, updated_at: time, version, ...given } = change
  const updatedAt = readTime('updated_at', time, project, actor)
  const { labels: wanted, ...others } = given
  const values = await readValues(project, typeof wanted === 'function' ? others : { ...others, labels: wanted }, actor)
  const by = askerOf(actor).id
  await readEdit(issue, textsIn(values))
  await transact(async () => {
    if (!(await holdProject(project.id))) throw new NotFound('Project')
    const before = await lockIssue(id)
    requireVersion(version, before.title, before.description)
    const labels = await writeLabels(project, id, typeof wanted === 'function' ? wanted : values.labels, actor)
    const state = stateAfter(before.state, event)
    const changes = { ...(await changesOf(before, values)), ...labels }
    await writeIssue(before, { ...values, state, by, updatedAt: updatedAt ?? new Date() })
    if (changes.title || changes.description) await renewWords('issue', id)
    // The table "What emits what": attributes that come with an event of the state are an update of their own.
    if (Object.keys(given).length > 0) await publishIssue({ action: 'update', issueId: id, by, changes })
    if (state !== before.state) await publishIssue({ action: event === 'close' ? 'close' : 'reopen', issueId: id, by })
    const confidential = values.confidential ?? before.confidential === 1
    await recountIssue(project.id, countedOf(before), { open: state !== 'closed', confidential })
  })
  return foundAgain(id)
}

/**
 * Closes an issue because of something else, such as a merge, a pushed commit or a command. The caller checks that the
 * user may do that. Joins the caller's transaction. Returns false when the issue is already closed.
 */
export const closeIssue = (id: number, by: number | null): Promise<boolean> => setState(id, 'close', by)

/** Reopens a closed issue in the same way. Returns false when it is open. */
export const reopenIssue = (id: number, by: number | null): Promise<boolean> => setState(id, 'reopen', by)

const setState = (id: number, event: 'close' | 'reopen', by: number | null): Promise<boolean> =>
  transact(async () => {
    const before = await lockIssue(id)
    const state = stateAfter(before.state, event)
    if (state === before.state) return false
    await writeIssue(before, { state, by, updatedAt: new Date() })
    await publishIssue({ action: event, issueId: id, by })
    await recountIssue(before.project_id, countedOf(before), { ...countedOf(before), open: state !== 'closed' })
    return true
  })

/** Throws Forbidden unless the user may change the issue: as a planner, or as its author or assignee. */
export function authorizeUpdate(actor: Actor, project: ProjectRow, issue: IssueRow): void {
  authorizeRecord(actor, 'issue.update', partsOf(project, issue))
}

/** Whether the user may change the issue. */
export const mayUpdateIssue = (actor: Actor, project: ProjectRow, issue: IssueRow): boolean =>
  may(actor, 'issue.write', project) && mayOnRecord(actor, 'issue.update', partsOf(project, issue))

const partsOf = (project: ProjectRow, issue: IssueRow) => ({
  author: issue.author_id,
  assignee: issue.assignee_id,
  project
})

/** Deletes an issue with everything that belongs to it. Throws NotFound or Forbidden. */
export async function deleteIssue(project: ProjectRow, { id }: IssueRow, actor: Actor): Promise<void> {
  authorizeProject(actor, 'issue.delete', project)
  await transact(async () => {
    const locked = await row<LockedIssue>(LOCK, [id])
    if (!locked) throw new NotFound('Issue')
    await deleteRows('issues', [id], project.id)
    await countIssues(project.id, [countedOf(locked)], -1, { youngest: false })
  })
}

const countedOf = ({ state, confidential }: Pick<LockedIssue, 'state' | 'confidential'>) => ({
  open: state !== 'closed',
  confidential: confidential === 1
})

type LockedIssue = Pick<
  IssueRow,
  | 'id'
  | 'project_id'
  | 'title'
  | 'description'
  | 'state'
  | 'confidential'
  | 'assignee_id'
  | 'milestone_id'
  | 'due_date'
  | 'moved_to_id'
  | 'time_estimate'
>

const LOCK = `select i.id, i.project_id, i.title, i.description, i.state, i.confidential, i.assignee_id, i.milestone_id,
  date_format(i.due_date, '%Y-%m-%d') as due_date, i.moved_to_id, i.time_estimate
  from issues i where i.id = ? for update`

/** Locks the row of an issue, so that each of two concurrent changes sees the result of the other. Throws NotFound. */
export async function lockIssue(id: number): Promise<LockedIssue> {
  const found = await row<LockedIssue>(LOCK, [id])
  if (!found) throw new NotFound()
  return found
}

interface Written extends IssueValues {
  readonly state: string
  readonly by: number | null
  readonly updatedAt: Date
}

/** Writes the values of a change. Call it inside `transact`, with the row locked. */
async function writeIssue(before: LockedIssue, written: Written): Promise<void> {
  const { assigneeId, milestoneId, dueDate, description } = written
  await execute(
    `update issues set title = ?, description = ?, state = ?, confidential = ?, assignee_id = ?, milestone_id = ?,
       due_date = ?, updated_by_id = ?, updated_at = ?, lock_version = lock_version + 1 where id = ?`,
    [
      written.title ?? before.title,
      description === undefined ? before.description : description,
      written.state,
      written.confidential ?? before.confidential,
      assigneeId === undefined ? before.assignee_id : assigneeId,
      milestoneId === undefined ? before.milestone_id : milestoneId,
      dueDate === undefined ? before.due_date : dueDate,
      written.by,
      written.updatedAt,
      before.id
    ],
    before.project_id
  )
}

async function writeLabels(
  project: ProjectRow,
  id: number,
  wanted: readonly string[] | LabelEdit | undefined,
  actor: Actor
): Promise<Pick<IssueChanges, 'labels'>> {
  if (wanted === undefined) return {}
  const titles = typeof wanted === 'function' ? await editedTitles('Issue', id, wanted) : wanted
  const ids = await labelsFor(project, titles, { create: may(actor, 'label.write', project) })
  const { added, removed } = await replaceLabels('Issue', { id, projectId: project.id }, ids)
  return added.length + removed.length > 0 ? { labels: { added, removed } } : {}
}

function stateAfter(state: string, event: IssueChange['state_event']): string {
  if (event === 'close') return 'closed'
  return event === 'reopen' && state === 'closed' ? 'reopened' : state
}

/** Returns the differences, for the notes about changes. */
async function changesOf(before: LockedIssue, values: IssueValues): Promise<IssueChanges> {
  const { title, description, confidential, assigneeId, milestoneId, dueDate } = values
  const pair = <T>(old: T, now: T | undefined) => (now === undefined || now === old ? undefined : ([old, now] as const))
  const changes = {
    title: pair(before.title, title),
    description: description === undefined || description === before.description ? undefined : (true as const),
    confidential: pair(before.confidential === 1, confidential),
    assignee_id: pair(before.assignee_id, assigneeId),
    milestone_id: pair(before.milestone_id, milestoneId),
    due_date: pair(before.due_date, dueDate)
  }
  const named =
    changes.title || changes.description
      ? await addedMentions(textOf(before), textOf({ ...before, ...textsIn(values) }))
      : []
  return {
    ...Object.fromEntries(Object.entries(changes).filter(([, change]) => change !== undefined)),
    ...(named.length > 0 && { named })
  }
}

/** Returns the texts that a change sets. */
const textsIn = ({ title, description }: IssueValues): Partial<RecordTexts> => ({
  ...(title !== undefined && { title }),
  ...(description !== undefined && { description })
})

/** Throws BadParameters when the request changes nothing. Decided: the time on its own does not count. */
function requireSomething({ updated_at: _, version: _version, ...change }: IssueUpdate): void {
  if (Object.keys(change).length > 0) return
  const names = Object.keys(IssueChange.properties).filter(name => name !== 'updated_at')
  throw new BadParameters(`${names.join(', ')} are missing, at least one parameter must be provided`)
}
