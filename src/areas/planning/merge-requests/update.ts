// Changes merge requests: their texts, plans and target, and whether they are open.

import { type Actor, type Origin, requireAsker } from '../../../access/actor.js'
import { may } from '../../../access/authorize.js'
import { authorizeRecord, mayOnRecord, type RecordAccess } from '../../../access/records.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { execute, row, type Value } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { moved } from '../../../db/lists/keyset-cache.js'
import { BadParameters, NotFound } from '../../../errors.js'
import { enqueue } from '../../../queue/enqueue.js'
import { addedMentions, type RecordTexts, readEdit, textOf } from '../../../text/mentions.js'
import { requireVersion } from '../../../text/versions.js'
import type { MergeRequestChanges } from '../../ground/activity/merge-request-snapshots.js'
import { audit } from '../../ground/audit/audit.js'
import { holdProject, type ProjectRow } from '../../projects/projects/projects.queries.js'
import { editedTitles, type LabelEdit, labelsFor, replaceLabels } from '../labels/label-links.js'
import { renewWords } from '../participation/search-words.js'
import { publishMergeRequest } from './events.js'
import { type MergeRequestRow, type MergeRequestState, requireMergeRequest, reread } from './merge-requests.queries.js'
import type { MergeRequestChange } from './merge-requests.schema.js'
import { type Plan, planFor } from './plan.js'
import { AlreadyOpen, type BranchPair, checkPair, checkTexts, isOpen, refuseSecond, requireBranches } from './rules.js'
import { followSource, insertVersion, type NewVersion, prepareVersion } from './versions/versions.js'

const accessTo = (project: ProjectRow, found: MergeRequestRow): RecordAccess => ({
  author: found.author_id,
  assignee: found.assignee_id,
  project
})

/** Throws Forbidden unless the actor is the author, the assignee, or a developer of the target. */
export const requireUpdate = (actor: Actor, project: ProjectRow, found: MergeRequestRow): void =>
  authorizeRecord(actor, 'merge_request.update', accessTo(project, found))

/** Whether the actor may change a merge request: the project takes changes, and `requireUpdate` would pass. */
export const mayUpdateMergeRequest = (actor: Actor, project: ProjectRow, found: MergeRequestRow): boolean =>
  may(actor, 'merge_request.write', project) && mayOnRecord(actor, 'merge_request.update', accessTo(project, found))

/** A change of a merge request. Commands edit the labels that the merge request has at that moment. */
type MergeRequestUpdate = Omit<MergeRequestChange, 'labels'> & {
  readonly labels?: MergeRequestChange['labels'] | LabelEdit
  /** The version of the title and the description that the caller has read (text/versions.ts). */
  readonly version?: string
}

/**
 * Changes a merge request. Throws NotFound, Forbidden, BadParameters, Invalid, UnprocessableList, Conflicts, and Stale when its texts
 * have another version than the caller has read.
 */
export async function updateMergeRequest(
  project: ProjectRow,
  id: number,
  body: MergeRequestUpdate,
  actor: Actor,
  origin: Origin
): Promise<MergeRequestRow> {
  const found = await requireMergeRequest(project.id, id)
  requireUpdate(actor, project, found)
  requireSomething(body)
  checkTexts(body)
  await readEdit(found, textsIn(body))
  const prepared: Prepared = {
    body,
    plan: await planFor(project, withTextOf(body), actor),
    version: await versionInto(found, body.target_branch),
    by: requireAsker(origin).id
  }
  return apply(project, found, prepared)
}

/** Closes or reopens a merge request for a command, without a user. Returns false when it is already in that state. */
export async function changeState(
  project: ProjectRow,
  found: MergeRequestRow,
  event: 'close' | 'reopen',
  origin: Origin
): Promise<boolean> {
  const prepared = { body: { state_event: event }, plan: {}, version: undefined, by: null }
  const after = await apply(project, found, prepared)
  if (after.state === found.state) return false
  // The feed has no author for this, so the audit keeps it.
  const name = `${found.namespace_path}/${found.project_path}!${found.iid}`
  const action = `merge_request.${event}`
  await audit(origin, { action, target: { type: 'merge_request', id: found.id, name } })
  return true
}

async function apply(project: ProjectRow, found: MergeRequestRow, prepared: Prepared): Promise<MergeRequestRow> {
  const { id } = found
  const { state_event: event, target_branch: branch } = prepared.body
  const opens = event === 'reopen' && found.state === 'closed' && (await canReopen(found))
  const closes = event === 'close' && isOpen(found)
  if (opens || (isOpen(found) && prepared.version)) await refuseSecond(pairOf(found, branch), id)
  try {
    await transact(() => write(project, id, { ...prepared, event: opens ? 'reopen' : closes ? 'close' : undefined }))
  } catch (error) {
    throw duplicateKey(error) === 'merge_requests_open' ? new AlreadyOpen({ title: found.title }) : error
  }
  // The branch may have moved while it was closed.
  return (opens ? await followSource(id) : undefined) ?? (await reread({ id }))
}

const KNOWN = [
  'assignee_id',
  'target_branch',
  'title',
  'description',
  'state_event',
  'milestone_id',
  'labels',
  'remove_source_branch'
] as const
const IGNORED = ['source_branch', 'target_project_id'] as const

/** Decided: any one parameter is enough. */
function requireSomething(body: MergeRequestUpdate): void {
  if (body.target_branch === '') throw new BadParameters('target_branch is empty')
  if ([...KNOWN, ...IGNORED].some(name => body[name] !== undefined)) return
  throw new BadParameters(`${KNOWN.join(', ')} are missing, at least one parameter must be provided`)
}

/** Not specified: reopening a merge request whose fork was deleted. Nothing happens, like for other events in the wrong state. */
const canReopen = async ({ source_project_id: id }: MergeRequestRow): Promise<boolean> =>
  (await row('select id from projects where id = ?', [id])) !== undefined

const pairOf = (found: MergeRequestRow, branch = found.target_branch): BranchPair => ({
  source: { projectId: found.source_project_id, branch: found.source_branch },
  target: { projectId: found.target_project_id, branch }
})

/** Returns the first version for a new target branch; undefined when the target stays the same. */
async function versionInto(found: MergeRequestRow, branch: string | undefined): Promise<NewVersion | undefined> {
  // A merged merge request keeps its target.
  if (branch === undefined || branch === found.target_branch || found.state === 'merged') return undefined
  const pair = pairOf(found, branch)
  if (found.source_project_id === found.target_project_id) await checkPair(pair)
  return prepareVersion(await requireBranches(pair))
}

interface Prepared {
  readonly body: MergeRequestUpdate
  readonly plan: Plan
  readonly version: NewVersion | undefined
  /** Null for a command. */
  readonly by: number | null
}

interface Locked {
  readonly state: MergeRequestState
  readonly title: string
  readonly description: string | null
  readonly target_branch: string
  readonly assignee_id: number | null
  readonly milestone_id: number | null
  readonly force_remove_source_branch: number | null
}

type Event = 'close' | 'reopen' | undefined

async function write(project: ProjectRow, id: number, prepared: Prepared & { readonly event: Event }): Promise<void> {
  if (!(await holdProject(project.id))) throw new NotFound('Project')
  const before = await row<Locked>(
    `select state, title, description, target_branch, assignee_id, milestone_id, force_remove_source_branch
     from merge_requests where id = ? and deleted_at is null for update`,
    [id]
  )
  if (!before) throw new NotFound()
  const { body, by, version } = prepared
  requireVersion(body.version, before.title, before.description)
  const columns = columnsOf(before, prepared)
  const changes = {
    ...(await changesOf(before, columns)),
    ...(await changeLabels(project, id, prepared))
  }
  const event = fits(prepared.event, before.state) ? prepared.event : undefined
  const state = event === 'close' ? 'closed' : event === 'reopen' ? 'reopened' : before.state
  const isChanged = Object.keys(changes).length > 0
  if (isChanged || event)
    await save(project.id, id, { ...columns, ...(event && stateColumns(state)), updated_by_id: by ?? null })
  if (changes.title || changes.description) await renewWords('merge_request', id)
  if (version && columns.target_branch !== undefined) await insertVersion({ id, target: project.id }, version)
  if (version || event === 'reopen') await enqueue('merge_requests.check', { ids: [id] })
  if (event) await publishMergeRequest({ action: event, id, by })
  // Decided: an event of the state with otherwise unchanged fields publishes only that event.
  const hasOthers = KNOWN.some(name => name !== 'state_event' && body[name] !== undefined)
  if (hasOthers && (isChanged || !body.state_event)) await publishMergeRequest({ action: 'update', id, by, changes })
}

/** Two requests may send the event at the same time. */
const fits = (event: Event, state: MergeRequestState): boolean =>
  event === 'close' ? state === 'opened' || state === 'reopened' : event === 'reopen' && state === 'closed'

type Columns = { [name: string]: Value }

function columnsOf(before: Locked, { body, plan, version }: Prepared): Columns {
  const flag = body.remove_source_branch
  const wanted: Columns = {
    ...(body.title !== undefined && { title: body.title }),
    ...(body.description !== undefined && { description: body.description }),
    ...(flag !== undefined && { force_remove_source_branch: flag }),
    ...(plan.assigneeId !== undefined && { assignee_id: plan.assigneeId }),
    ...(plan.milestoneId !== undefined && { milestone_id: plan.milestoneId }),
    ...(version && before.state !== 'merged' && { target_branch: body.target_branch ?? before.target_branch })
  }
  if (wanted.target_branch !== undefined && version) {
    Object.assign(wanted, { head_sha: version.head, merge_status: 'unchecked' })
  }
  return wanted
}

/** A reopened merge request is checked again, and no longer waits for a build. */
const stateColumns = (state: MergeRequestState): Columns => ({
  state,
  ...(state === 'reopened' && {
    merge_status: 'unchecked',
    merge_when_build_succeeds: false,
    merge_user_id: null,
    merge_message: null
  })
})

const TOLD = ['title', 'description', 'target_branch', 'assignee_id', 'milestone_id'] as const

async function changesOf(before: Locked, columns: Columns): Promise<MergeRequestChanges> {
  const changed = TOLD.filter(name => columns[name] !== undefined && columns[name] !== before[name])
  const flag = columns.force_remove_source_branch
  const flagBefore = before.force_remove_source_branch
  const hasText = changed.includes('title') || changed.includes('description')
  const named = hasText ? await addedMentions(textOf(before), textOf({ ...before, ...columns })) : []
  return {
    ...Object.fromEntries(changed.map(name => [name, [before[name], columns[name]]])),
    // The description may be long, and no receiver of the event shows it.
    ...(changed.includes('description') && { description: true }),
    ...(named.length > 0 && { named }),
    ...(flag !== undefined &&
      Number(flag) !== flagBefore && { remove_source_branch: [flagBefore === 1, flag === true] })
  }
}

const textsIn = ({ title, description }: MergeRequestUpdate): Partial<RecordTexts> => ({
  ...(title !== undefined && { title }),
  ...(description !== undefined && { description })
})

/** `planFor` reads labels that are a text; an edit waits until the row is locked. */
const withTextOf = ({ labels, ...others }: MergeRequestUpdate) =>
  typeof labels === 'function' || labels === undefined ? others : { ...others, labels }

async function changeLabels(
  project: ProjectRow,
  id: number,
  { body: { labels }, plan }: Prepared
): Promise<MergeRequestChanges> {
  const titles = typeof labels === 'function' ? await editedTitles('MergeRequest', id, labels) : plan.titles
  if (!titles) return {}
  const labelIds = await labelsFor(project, titles, { create: true })
  const { added, removed } = await replaceLabels('MergeRequest', { id, projectId: project.id }, labelIds)
  return added.length + removed.length > 0 ? { labels: { added, removed } } : {}
}

async function save(projectId: number, id: number, columns: Columns): Promise<void> {
  moved('MergeRequest')
  const names = Object.keys(columns)
  await execute(
    `update merge_requests set ${names.map(name => `${name} = ?`).join(', ')}, updated_at = ?,
       lock_version = lock_version + 1 where id = ?`,
    [...Object.values(columns), new Date(), id],
    projectId
  )
}
