// Moves an issue to another project: creates a new issue there, and closes the old one.
import type { Actor } from '../../../access/actor.js'
import { askerOf } from '../../../access/actor.js'
import { canSee, may } from '../../../access/authorize.js'
import { nextNumber } from '../../../db/connect/counters.js'
import { execute } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { BadRequest, NotFound } from '../../../errors.js'
import { plug } from '../../../lib/plug.js'
import { findProject, holdProject, type ProjectRow } from '../../projects/projects/projects.queries.js'
import { addLabels, labelsFor, readLabelTitles } from '../labels/label-links.js'
import { findMilestoneByTitle, readMilestones } from '../milestones/milestones.queries.js'
import { assignable } from '../participation/assignees.js'
import { insertIssues } from './creation.js'
import { countIssues, recountIssue } from './issue-counts.js'
import { publishIssue } from './issue-events.js'
import { lockIssue } from './issues.js'
import { findIssue, type IssueRow, requireIssue } from './issues.queries.js'

/** Copies what an area above stores about an issue, such as its notes, in the transaction of the move. */
export type MoveStep = (from: IssueRow, to: IssueRow) => Promise<void>
/** Returns the description of an issue for another project, where `#1` names a different issue. */
export type Rewrite = (text: string, from: ProjectRow, to: ProjectRow) => string | Promise<string>

export const moveSteps = plug<{ readonly rewrite: Rewrite; readonly copy: MoveStep }>('moveSteps')

/** Moves an issue, and returns the new one. Throws NotFound or BadRequest. */
export async function moveIssue(project: ProjectRow, id: number, toId: number, actor: Actor): Promise<IssueRow> {
  const issue = await requireIssue(project, id, actor, 'Issue')
  const target = await findProject(toId, actor)
  // Decided: a project that the user cannot read counts as missing.
  if (!target || !canSee(target, actor)) throw new NotFound('Project')
  if (target.id === project.id) throw new BadRequest('Cannot move issue to project it originates from!')
  if (issue.moved_to_id !== null || !may(actor, 'issue.plan', project) || !may(actor, 'issue.plan', target))
    throw refused()
  const by = askerOf(actor).id
  const { rewrite, copy } = await moveSteps()
  const iid = await nextNumber(target.id, 'issue')
  const newId = await transact(async () => {
    await holdBoth(project.id, target.id)
    const locked = await lockIssue(id)
    if (locked.moved_to_id !== null) throw refused()
    // Uses the locked row: somebody may have changed the issue since it was found.
    const milestone = await sameMilestone(locked, target)
    const assigneeId =
      locked.assignee_id === null ? undefined : await assignable(target.id, locked.assignee_id, 'issue.read')
    const description = locked.description === null ? null : await rewrite(locked.description, project, target)
    const labels = await labelsFor(target, await readLabelTitles('Issue', id), { create: false })
    const draft = {
      iid,
      title: locked.title,
      description,
      state: locked.state,
      confidential: locked.confidential === 1,
      authorId: issue.author_id,
      assigneeId: assigneeId ?? null,
      milestoneId: milestone?.id ?? null,
      dueDate: locked.due_date,
      timeEstimate: locked.time_estimate,
      createdAt: issue.created_at
    }
    const [made = 0] = await insertIssues(target.id, [draft])
    await addLabels('Issue', { id: made, projectId: target.id }, labels)
    const moved = await findIssue(made)
    if (!moved) throw new NotFound('Issue')
    await copy(issue, moved)
    await execute(
      `update issues set state = 'closed', moved_to_id = ?, updated_by_id = ?, updated_at = ?,
         lock_version = lock_version + 1 where id = ?`,
      [made, by, new Date(), id],
      project.id
    )
    const move = { from: id, to: made }
    await publishIssue({ action: 'open', issueId: made, by, moved: move })
    await publishIssue({ action: 'close', issueId: id, by, moved: move })
    const was = { open: locked.state !== 'closed', confidential: draft.confidential }
    await recountIssue(project.id, was, { ...was, open: false })
    await countIssues(target.id, [was], 1, { youngest: false })
    return made
  })
  const found = await findIssue(newId)
  if (!found) throw new NotFound('Issue')
  return found
}

const refused = () => new BadRequest('Cannot move issue due to insufficient permissions!')

async function sameMilestone({ milestone_id: id }: Pick<IssueRow, 'milestone_id'>, target: ProjectRow) {
  const title = id === null ? undefined : (await readMilestones([id])).get(id)?.title
  return title === undefined ? undefined : findMilestoneByTitle(target.id, title)
}

/** Locks in the order of ids, so that two moves between two projects do not wait for each other. */
async function holdBoth(...ids: readonly number[]): Promise<void> {
  for (const id of [...ids].sort((a, b) => a - b)) if (!(await holdProject(id))) throw new NotFound('Project')
}
