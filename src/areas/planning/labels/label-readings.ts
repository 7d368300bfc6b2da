// What the record of a label shows in addition to its row.
import type { Actor } from '../../../access/actor.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { readSubscriptions } from '../participation/subscriptions.js'
import { countIssues, countOpenMergeRequests } from './label-counts.queries.js'
import type { LabelRow } from './labels.queries.js'

type LabelCount = 'open_issues_count' | 'closed_issues_count' | 'open_merge_requests_count'
type LabelCounts = Readonly<Record<LabelCount, number>>

const COUNTERS = [countIssues, countOpenMergeRequests]

export interface LabelReading {
  readonly label: LabelRow
  readonly counts: LabelCounts
  readonly subscribed: boolean
}

const NOTHING: LabelCounts = { open_issues_count: 0, closed_issues_count: 0, open_merge_requests_count: 0 }

/** Reads what the records of labels show to the caller, with as many statements for one label as for all. */
export async function readLabels(
  project: ProjectRow,
  labels: readonly LabelRow[],
  actor: Actor
): Promise<LabelReading[]> {
  const ids = labels.map(({ id }) => id)
  const [subscribed, ...counted] = await Promise.all([
    readSubscriptions(ids, actor.user?.id ?? 0, project.id),
    ...COUNTERS.map(count => (ids.length === 0 ? undefined : count(project, ids, actor)))
  ])
  return labels.map(label => ({
    label,
    counts: Object.assign({}, NOTHING, ...counted.map(found => found?.get(label.id))),
    subscribed: subscribed.get(label.id) ?? false
  }))
}

export const readLabel = async (project: ProjectRow, label: LabelRow, actor: Actor): Promise<LabelReading> => {
  const [reading] = await readLabels(project, [label], actor)
  return reading ?? { label, counts: NOTHING, subscribed: false }
}
