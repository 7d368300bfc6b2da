// What the records of a page of merge requests show in addition to their rows.
import type { Actor } from '../../../access/actor.js'
import { type MilestoneRow, readMilestones } from '../milestones/milestones.queries.js'
import { readShown, type Shown, type ShownColumns } from '../participation/readings.js'
import type { MergeRequestRow } from './merge-requests.queries.js'

export interface MergeRequestReading extends Shown {
  readonly mergeRequest: MergeRequestRow
  readonly milestone: MilestoneRow | undefined
}

/**
 * Reads what the records of merge requests show to the caller: with one statement for milestones, if there are any, and
 * one for everything else, unless the rows have the columns of `shownColumns`.
 */
export async function readMergeRequests(
  page: readonly (MergeRequestRow & Partial<ShownColumns>)[],
  { user }: Actor
): Promise<MergeRequestReading[]> {
  const [shownOf, milestones] = await Promise.all([
    readShown('MergeRequest', page, user?.id),
    readMilestones(page.map(({ milestone_id: id }) => id))
  ])
  return page.map(mergeRequest => ({
    mergeRequest,
    milestone: mergeRequest.milestone_id === null ? undefined : milestones.get(mergeRequest.milestone_id),
    ...shownOf(mergeRequest)
  }))
}

/** Reads what the record of one merge request shows to the caller. */
export async function readMergeRequest(mergeRequest: MergeRequestRow, actor: Actor): Promise<MergeRequestReading> {
  const [reading] = await readMergeRequests([mergeRequest], actor)
  if (!reading) throw new Error('the merge request has no reading')
  return reading
}
