// "Milestone".
import { IdOf, Integer, Moment, Nullable, OneOf, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import type { MilestoneRow } from './milestones.queries.js'

const day = (description: string) => Nullable(Text(description, { format: 'date' }))

export const Milestone = Type.Object(
  {
    id: IdOf('the milestone'),
    iid: Integer('the number in the project'),
    project_id: IdOf('its project'),
    title: Text('its title'),
    description: Nullable(Text('the description')),
    state: OneOf<string>(['active', 'closed'], 'MilestoneState', 'the state'),
    created_at: Moment('when it was created'),
    updated_at: Moment('when it was last changed'),
    due_date: day('the day on which it ends'),
    start_date: day('the day on which it begins')
  },
  { title: 'Milestone', description: 'A step of a project that issues and merge requests are planned for.' }
)
export type Milestone = Static<typeof Milestone>

export const viewMilestone = (milestone: MilestoneRow): Milestone => ({
  id: milestone.id,
  iid: milestone.iid,
  project_id: milestone.project_id,
  title: milestone.title,
  description: milestone.description,
  state: milestone.state,
  created_at: milestone.created_at,
  updated_at: milestone.updated_at,
  due_date: milestone.due_date,
  start_date: milestone.start_date
})
