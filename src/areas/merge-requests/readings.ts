// What the records of a page of merge requests show beside their rows, with one statement for each kind.
import type { Actor } from '../../access/actor.js'
import { readLabelTitles } from '../labels/label-links.js'
import { type MilestoneRow, readMilestones } from '../milestones/milestones.queries.js'
import { type Counts, readCounts } from '../participation/readings.js'
import { readSubscribed } from '../participation/subscriptions.js'
import type { MergeRequestRow } from './merge-requests.queries.js'

export interface MergeRequestReading {
  readonly mergeRequest: MergeRequestRow
  readonly labels: readonly string[]
  readonly milestone: MilestoneRow | undefined
  readonly subscribed: boolean
  readonly counts: Counts
}

const TYPE = 'MergeRequest'

/** Reads what the records of merge requests show to the asker. */
export async function readMergeRequests(
  page: readonly MergeRequestRow[],
  { user }: Actor
): Promise<MergeRequestReading[]> {
  const ids = page.map(({ id }) => id)
  const [labels, milestones, subscribed, countsOf] = await Promise.all([
    readLabelTitles(TYPE, ids),
    readMilestones(page.map(({ milestone_id: id }) => id)),
    user ? readSubscribed(TYPE, page, user.id) : new Set<number>(),
    readCounts(TYPE, ids)
  ])
  return page.map(mergeRequest => ({
    mergeRequest,
    labels: labels.get(mergeRequest.id) ?? [],
    milestone: mergeRequest.milestone_id === null ? undefined : milestones.get(mergeRequest.milestone_id),
    subscribed: subscribed.has(mergeRequest.id),
    counts: countsOf(mergeRequest.id)
  }))
}

/** Reads what the record of one merge request shows to the asker. */
export async function readMergeRequest(mergeRequest: MergeRequestRow, actor: Actor): Promise<MergeRequestReading> {
  const [reading] = await readMergeRequests([mergeRequest], actor)
  if (!reading) throw new Error('one merge request has one reading')
  return reading
}
