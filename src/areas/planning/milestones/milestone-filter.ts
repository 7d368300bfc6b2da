// The filter `milestone` of lists of issues and merge requests.
import type { Fragment } from '../../../access/membership.js'

/** The value that asks for those without a milestone. */
export const NO_MILESTONE = 'No Milestone'

/** The condition that the target `alias` has a milestone with this title. */
export const isOfMilestone = (alias: string, title: string): Fragment => ({
  sql: `${alias}.milestone_id in (select s.id from milestones s where s.title = ?)`,
  values: [title]
})

/** The same for a filter, whose title may also ask for those without a milestone. */
export const hasMilestone = (alias: string, title: string): Fragment =>
  title === NO_MILESTONE ? { sql: `${alias}.milestone_id is null`, values: [] } : isOfMilestone(alias, title)
