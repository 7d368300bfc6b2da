// What the records of a page of merge requests show beside their rows, with one statement for each kind.
import type { Actor } from '../../access/actor.js'
import { readLabelTitles } from '../labels/label-links.js'
import { type MilestoneRow, readMilestones } from '../milestones/milestones.queries.js'
import { readCounts } from '../participation/readings.js'
import { readSubscribed } from '../participation/subscriptions.js'
import type { MergeRequestRow } from './merge-requests.queries.js'

export interface MergeRequestReading {
  readonly mergeRequest: MergeRequestRow
  readonly labels: readonly string[]
  readonly milestone: MilestoneRow | undefined
  readonly subscribed: boolean
  readonly userNotesCount: number
  readonly upvotes: number
  readonly downvotes: number
}

const TYPE = 'MergeRequest'

/** Reads what the records of merge requests show to the asker. */
export async function readMergeRequests(
  page: readonly MergeRequestRow[],
  { user }: Actor
): Promise<MergeRequestReading[]> {
  const ids = page.map(({ id }) => id)
  const [labels, milestones, subscribed, notes, up, down] = await Promise.all([
    readLabelTitles(TYPE, ids),
    readMilestones(page.map(({ milestone_id: id }) => id)),
    user ? readSubscribed(TYPE, page, user.id) : new Set<number>(),
    readCounts('user_notes_count', TYPE, ids),
    readCounts('upvotes', TYPE, ids),
    readCounts('downvotes', TYPE, ids)
  ])
  return page.map(mergeRequest => ({
    mergeRequest,
    labels: labels.get(mergeRequest.id) ?? [],
    milestone: mergeRequest.milestone_id === null ? undefined : milestones.get(mergeRequest.milestone_id),
    subscribed: subscribed.has(mergeRequest.id),
    userNotesCount: notes.get(mergeRequest.id) ?? 0,
    upvotes: up.get(mergeRequest.id) ?? 0,
    downvotes: down.get(mergeRequest.id) ?? 0
  }))
}

/** Reads what the record of one merge request shows to the asker. */
export async function readMergeRequest(mergeRequest: MergeRequestRow, actor: Actor): Promise<MergeRequestReading> {
  const [reading] = await readMergeRequests([mergeRequest], actor)
  if (!reading) throw new Error('one merge request has one reading')
  return reading
}
