// Subscriptions and time of merge requests, for users who may change them.
import { type Actor, askerOf } from '../../../access/actor.js'
import { transact } from '../../../db/connect/transact.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { changeSubscription } from '../participation/subscriptions.js'
import type { Target } from '../participation/targets.js'
import {
  addSpentTime,
  readDuration,
  resetSpentTime,
  setEstimate,
  type TimeChange
} from '../participation/time-tracking.js'
import { publishMergeRequest } from './events.js'
import { type MergeRequestRow, requireMergeRequest, reread } from './merge-requests.queries.js'
import { requireUpdate } from './update.js'

async function requireUpdatable(project: ProjectRow, id: number, actor: Actor): Promise<MergeRequestRow> {
  const found = await requireMergeRequest(project.id, id)
  requireUpdate(actor, project, found)
  return found
}

/** Subscribes the caller, or ends the subscription. Throws NotFound, Forbidden, and NotModified when nothing changes. */
export async function subscribe(
  project: ProjectRow,
  id: number,
  subscribed: boolean,
  actor: Actor
): Promise<MergeRequestRow> {
  const found = await requireUpdatable(project, id, actor)
  await changeSubscription('MergeRequest', { ...found, project_id: project.id }, askerOf(actor).id, subscribed)
  return reread(found)
}

/** Sets the estimate from a text; null removes it. Throws NotFound, Forbidden or Invalid. */
export const estimate = (project: ProjectRow, id: number, text: string | null, actor: Actor) =>
  change(project, id, actor, target => setEstimate(target, text === null ? 0 : readDuration(text)))

/** Logs time from a text; null removes all of it. Throws NotFound, Forbidden or Invalid. */
export const spendTime = (project: ProjectRow, id: number, text: string | null, actor: Actor) =>
  change(project, id, actor, target =>
    text === null
      ? resetSpentTime(target, askerOf(actor).id)
      : addSpentTime(target, readDuration(text), askerOf(actor).id)
  )

async function change(
  project: ProjectRow,
  id: number,
  actor: Actor,
  write: (target: Target) => Promise<TimeChange>
): Promise<TimeChange> {
  await requireUpdatable(project, id, actor)
  return transact(async () => {
    const time = await write({ type: 'MergeRequest', id, projectId: project.id })
    // Time counts as a change of the merge request.
    await publishMergeRequest({ action: 'update', id, by: askerOf(actor).id, changes: time.changes })
    return time
  })
}
