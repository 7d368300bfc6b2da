// What the records of a page of issues show in addition to their rows.
import type { Actor } from '../../../access/actor.js'
import { type MilestoneRow, readMilestones } from '../milestones/milestones.queries.js'
import { readShown, type Shown, type ShownColumns } from '../participation/readings.js'
import type { IssueRow } from './issues.queries.js'

export interface IssueReading extends Shown {
  readonly issue: IssueRow
  readonly milestone: MilestoneRow | undefined
}

/**
 * Reads what the records of issues show to the caller: with one statement for milestones, if there are any, and one for
 * everything else, unless the rows have the columns of `shownColumns`.
 */
export async function readIssues(
  issues: readonly (IssueRow & Partial<ShownColumns>)[],
  { user }: Actor
): Promise<IssueReading[]> {
  const [shownOf, milestones] = await Promise.all([
    readShown('Issue', issues, user?.id),
    readMilestones(issues.map(({ milestone_id: id }) => id))
  ])
  return issues.map(issue => ({
    issue,
    milestone: issue.milestone_id === null ? undefined : milestones.get(issue.milestone_id),
    ...shownOf(issue)
  }))
}

/** Reads what the record of one issue shows to the caller. */
export async function readIssue(issue: IssueRow, actor: Actor): Promise<IssueReading> {
  const [reading] = await readIssues([issue], actor)
  if (!reading) throw new Error('the issue has no reading')
  return reading
}
