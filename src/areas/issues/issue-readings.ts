// What the records of a page of issues show beside their rows, with one statement for each kind.
import type { Actor } from '../../access/actor.js'
import { readLabelTitles } from '../labels/label-links.js'
import { type MilestoneRow, readMilestones } from '../milestones/milestones.queries.js'
import { type Counts, readCounts } from '../participation/readings.js'
import { readSubscribed } from '../participation/subscriptions.js'
import type { ListedIssueRow } from './issue-pages.queries.js'
import type { IssueRow } from './issues.queries.js'

export interface IssueReading {
  readonly issue: IssueRow
  readonly labels: readonly string[]
  readonly milestone: MilestoneRow | undefined
  readonly subscribed: boolean
  readonly counts: Counts
}

/** Reads what the records of the issues of a list show to the asker. */
export function readListedIssues(issues: readonly ListedIssueRow[], actor: Actor): Promise<IssueReading[]> {
  const said = issues.flatMap(({ id, said }) => (said === null ? [] : [[id, said === 1] as const]))
  return readIssues(issues, actor, new Map(said))
}

/** Reads what the records of issues show to the asker; `said` is what the asker has said of subscriptions, if it is known. */
export async function readIssues(
  issues: readonly IssueRow[],
  { user }: Actor,
  said?: ReadonlyMap<number, boolean>
): Promise<IssueReading[]> {
  const ids = issues.map(({ id }) => id)
  const [labels, milestones, subscribed, countsOf] = await Promise.all([
    readLabelTitles('Issue', ids),
    readMilestones(issues.map(({ milestone_id: id }) => id)),
    user ? readSubscribed('Issue', issues, user.id, said) : new Set<number>(),
    readCounts('Issue', ids)
  ])
  return issues.map(issue => ({
    issue,
    labels: labels.get(issue.id) ?? [],
    milestone: issue.milestone_id === null ? undefined : milestones.get(issue.milestone_id),
    subscribed: subscribed.has(issue.id),
    counts: countsOf(issue.id)
  }))
}

/** Reads what the record of one issue shows to the asker. */
export async function readIssue(issue: IssueRow, actor: Actor): Promise<IssueReading> {
  const [reading] = await readIssues([issue], actor)
  if (!reading) throw new Error('one issue has one reading')
  return reading
}
