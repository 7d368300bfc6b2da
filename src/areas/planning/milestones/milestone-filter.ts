// The filter `milestone` of lists of issues and merge requests.
import type { Fragment } from '../../../access/membership.js'

/** The value that selects targets without a milestone. */
export const NO_MILESTONE = 'No Milestone'

/** Returns the condition that the target `alias` has a milestone with this title. */
export const isOfMilestone = (alias: string, title: string): Fragment => ({
  sql: `${alias}.milestone_id in (select s.id from milestones s where s.title = ?)`,
  values: [title]
})

/** Returns the condition of a filter: a milestone with this title, or none for NO_MILESTONE. */
export const hasMilestone = (alias: string, title: string): Fragment =>
  title === NO_MILESTONE ? { sql: `${alias}.milestone_id is null`, values: [] } : isOfMilestone(alias, title)
