// The record of a milestone that commands print. This file does not load TypeBox, which takes 0.1 s.
import type { CountedMilestone } from './milestones.queries.js'

export const viewMilestoneLine = (milestone: CountedMilestone) => ({
  id: milestone.id,
  number: milestone.iid,
  title: milestone.title,
  state: milestone.state,
  start_date: milestone.start_date,
  due_date: milestone.due_date,
  created_at: milestone.created_at,
  updated_at: milestone.updated_at,
  open_issues: milestone.open_issues,
  closed_issues: milestone.closed_issues
})
