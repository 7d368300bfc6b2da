// The time of issues. Users who may change an issue may plan and log its time, and hooks get the same events as for
// other changes.
import { type Actor, askerOf } from '../../../access/actor.js'
import { transact } from '../../../db/connect/transact.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import type { Target } from '../participation/targets.js'
import {
  addSpentTime,
  readDuration,
  resetSpentTime,
  setEstimate,
  type TimeChange
} from '../participation/time-tracking.js'
import { publishIssue } from './issue-events.js'
import { authorizeUpdate } from './issues.js'
import { requireIssue } from './issues.queries.js'

/** Sets the estimate of an issue from a text; null removes it. Throws NotFound, Forbidden or Invalid. */
export function estimateIssue(project: ProjectRow, id: number, text: string | null, actor: Actor) {
  return change(project, id, actor, target => setEstimate(target, text === null ? 0 : readDuration(text)))
}

/** Logs time on an issue from a text; null removes all of it. Throws NotFound, Forbidden or Invalid. */
export function spendTimeOnIssue(project: ProjectRow, id: number, text: string | null, actor: Actor) {
  const by = askerOf(actor).id
  return change(project, id, actor, target =>
    text === null ? resetSpentTime(target, by) : addSpentTime(target, readDuration(text), by)
  )
}

async function change(
  project: ProjectRow,
  id: number,
  actor: Actor,
  write: (target: Target) => Promise<TimeChange>
): Promise<TimeChange> {
  const issue = await requireIssue(project, id, actor)
  authorizeUpdate(actor, project, issue)
  const by = askerOf(actor).id
  return transact(async () => {
    const time = await write({ type: 'Issue', id, projectId: project.id })
    await publishIssue({ action: 'update', issueId: id, by, changes: time.changes })
    return time
  })
}
