// Creates issues. Issues that users create in one project at the same moment are written together (db/connect/batching.ts).
import type { Actor, ActorUser } from '../../../access/actor.js'
import { askerOf } from '../../../access/actor.js'
import { may } from '../../../access/authorize.js'
import { together } from '../../../db/connect/batching.js'
import { nextNumbers, takeNumbers } from '../../../db/connect/counters.js'
import { execute, insertedIds, marks, type Value } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { NotFound } from '../../../errors.js'
import { isPlain, readAhead, textOf } from '../../../text/mentions.js'
import { holdProject, type ProjectRow } from '../../projects/projects/projects.queries.js'
import { addLabels, labelsFor } from '../labels/label-links.js'
import { withCommands } from '../participation/descriptions.js'
import type { ShownColumns } from '../participation/readings.js'
import { titleOf } from './follow-ups.js'
import { countIssues } from './issue-counts.js'
import { publishNewIssues } from './issue-events.js'
import { type IssueValues, readTime, readValues } from './issue-values.js'
import { foundAgain, type IssueRow } from './issues.queries.js'
import type { IssueBody } from './issues.schema.js'

/** The values of an issue that is inserted. */
export interface NewIssue extends IssueValues {
  readonly iid: number
  readonly title: string
  readonly authorId: number
  readonly state?: string
  readonly timeEstimate?: number
  readonly createdAt?: Date
  readonly updatedAt?: Date
}

/** A request for a new issue. */
interface Asked {
  readonly project: ProjectRow
  readonly actor: Actor
  readonly author: ActorUser
  readonly values: IssueValues & { readonly title: string }
  /** Set when the request contains it. */
  readonly createdAt: Date | undefined
}

/** What the record of a new issue without labels shows: it has no notes and no awards, and its author takes part. */
const SHOWN_OF_NEW: ShownColumns = { labels: null, user_notes_count: null, votes: null, subscribed: 1 }

/** Creates an issue. Throws Invalid or BadParameters. */
export async function createIssue(
  project: ProjectRow,
  asked: IssueBody,
  actor: Actor
): Promise<IssueRow & Partial<ShownColumns>> {
  const author = askerOf(actor)
  const given = { ...asked, title: await titleOf(project, asked, actor) }
  const { merge_request_for_resolving_discussions: _, ...body } = await withCommands('Issue', project, given, actor)
  const createdAt = readTime('created_at', body.created_at, project, actor)
  const { title = '', ...values } = await readValues(project, body, actor)
  const made = await make({ project, actor, author, values: { ...values, title }, createdAt })
  // The names of an assignee need a statement, and with sudo the author may be blocked.
  if (made.assignee_id !== null || actor.sudoer !== null) return foundAgain(made.id)
  return values.labels?.length ? made : { ...made, ...SHOWN_OF_NEW }
}

async function make(asked: Asked): Promise<IssueRow> {
  const { values, project } = asked
  const { title, description, labels, assigneeId } = values
  if (!labels?.length && !assigneeId && isPlain(title, description)) return makeTogether(project.id, asked)
  await readAhead(textOf({ title, description: description ?? null }))
  const [made] = await makeIssues([asked], project.id)
  if (!made) throw new Error('no issue was created')
  return made
}

/** For issues that write nothing but their own rows: other issues would hold the locks of all. */
const makeTogether = together<number, Asked, IssueRow>((asked, projectId) =>
  transact(async () => insertAsked(asked, projectId, await takeNumbers(projectId, 'issue', asked.length)))
)

/** Creates issues in one project. */
async function makeIssues(asked: readonly Asked[], projectId: number): Promise<IssueRow[]> {
  const numbers = await nextNumbers(projectId, 'issue', asked.length)
  return transact(() => insertAsked(asked, projectId, numbers))
}

async function insertAsked(
  asked: readonly Asked[],
  projectId: number,
  numbers: readonly number[]
): Promise<IssueRow[]> {
  const isLabelled = asked.some(({ values }) => values.labels?.length)
  if (isLabelled && !(await holdProject(projectId))) throw new NotFound('Project')
  const now = new Date()
  const issues = asked.map(({ values, author, createdAt }, at) => ({
    ...values,
    iid: numbers[at] ?? 0,
    authorId: author.id,
    createdAt: createdAt ?? now,
    updatedAt: now
  }))
  const labels: number[][] = []
  for (const each of asked) labels.push(await labelsOf(each))
  const ids = isLabelled ? await insertIssues(projectId, issues) : await insertHeld(projectId, issues)
  const made = asked.map((each, at) => rowOfNew(each, { id: ids[at] ?? 0, iid: numbers[at] ?? 0, now }))
  for (const [at, some] of labels.entries()) {
    await addLabels('Issue', { id: ids[at] ?? 0, projectId }, some)
  }
  await publishNewIssues(made)
  const isOfNow = asked.every(({ createdAt }) => createdAt === undefined)
  await countIssues(
    projectId,
    issues.map(({ confidential = false }) => ({ open: true, confidential })),
    1,
    { youngest: isOfNow }
  )
  return made
}

async function labelsOf({ project, actor, values: { labels = [] } }: Asked): Promise<number[]> {
  return labels.length === 0 ? [] : labelsFor(project, labels, { create: may(actor, 'label.write', project) })
}

interface Made {
  readonly id: number
  readonly iid: number
  readonly now: Date
}

/** Returns the row as a statement would return it, except for the names of an assignee. */
const rowOfNew = ({ project, author, values, createdAt }: Asked, { id, iid, now }: Made): IssueRow => ({
  id,
  iid,
  project_id: project.id,
  title: values.title,
  description: values.description ?? null,
  state: 'opened',
  confidential: values.confidential ? 1 : 0,
  author_id: author.id,
  assignee_id: values.assigneeId ?? null,
  milestone_id: values.milestoneId ?? null,
  due_date: values.dueDate ?? null,
  updated_by_id: null,
  moved_to_id: null,
  time_estimate: 0,
  total_time_spent: 0,
  lock_version: 0,
  created_at: createdAt ?? now,
  updated_at: now,
  project_path: project.path,
  namespace_path: project.namespace_path,
  author_name: author.name,
  author_username: author.username,
  author_state: 'active',
  assignee_name: null,
  assignee_username: null,
  assignee_state: null
})

/** Does the same as `insertIssues`, and holds the project, which for one issue takes no other statement. Throws NotFound. */
async function insertHeld(projectId: number, issues: readonly NewIssue[]): Promise<number[]> {
  const [only, ...others] = issues
  if (!only || others.length > 0) {
    if (!(await holdProject(projectId))) throw new NotFound('Project')
    return insertIssues(projectId, issues)
  }
  const values = valuesOf(only, new Date())
  const { affectedRows, insertId } = await execute(
    `insert into issues (${COLUMNS}) select p.id, ${marks(values)} from projects p where p.id = ? lock in share mode`,
    [...values, projectId],
    projectId
  )
  if (affectedRows === 0) throw new NotFound('Project')
  return [insertId]
}

/** Inserts the rows of issues, and returns their ids. Call it inside `transact`, and call `countIssues` at the end. */
export async function insertIssues(projectId: number, issues: readonly NewIssue[]): Promise<number[]> {
  const now = new Date()
  const all = issues.map(issue => [projectId, ...valuesOf(issue, now)])
  const { insertId } = await execute(
    `insert into issues (${COLUMNS}) values ${all.map(values => `(${marks(values)})`).join(', ')}`,
    all.flat(),
    projectId
  )
  return insertedIds(insertId, issues.length)
}

const COLUMNS = `project_id, iid, title, description, state, confidential, author_id, assignee_id, milestone_id, due_date,
  time_estimate, created_at, updated_at`

/** The values of all columns but the first. */
const valuesOf = (issue: NewIssue, now: Date): Value[] => [
  issue.iid,
  issue.title,
  issue.description ?? null,
  issue.state ?? 'opened',
  issue.confidential ?? false,
  issue.authorId,
  issue.assigneeId ?? null,
  issue.milestoneId ?? null,
  issue.dueDate ?? null,
  issue.timeEstimate ?? 0,
  issue.createdAt ?? now,
  issue.updatedAt ?? now
]
