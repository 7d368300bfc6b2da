import { IdOf, Integer, Nullable, Paging, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { LONGEST_DESCRIPTION } from '../participation/targets.js'

const MILESTONE_STATES = ['active', 'closed'] as const

export const MilestoneParams = Type.Object({ ...projectParam, milestone_id: IdOf('the milestone') })
export const MilestoneListQuery = Type.Object({
  ...Paging,
  iid: Type.Optional(
    Type.Array(Integer('the number of a milestone in the project'), {
      maxItems: 100,
      description: 'only milestones with these numbers'
    })
  ),
  state: Type.Optional(
    Type.Enum(MILESTONE_STATES, {
      title: 'MilestoneFilter',
      description: 'only milestones in this state; all without it'
    })
  )
})
export type MilestoneListQuery = Static<typeof MilestoneListQuery>

const day = (what: string) =>
  Type.Optional(Nullable(Text(`${what}, such as 2027-01-31; empty for none`, { maxLength: 64 })))
const plan = {
  description: Type.Optional(Nullable(Text(`the description, at most ${LONGEST_DESCRIPTION} characters`))),
  due_date: day('the day on which it ends'),
  start_date: day('the day on which it begins, before its end')
}

export const MilestoneBody = Type.Object(
  { title: Text('the title, at most 255 characters'), ...plan },
  { title: 'MilestoneBody', description: 'A new milestone.' }
)
export type MilestoneBody = Static<typeof MilestoneBody>
export const MilestoneChange = Type.Object(
  {
    title: Type.Optional(MilestoneBody.properties.title),
    ...plan,
    state_event: Type.Optional(
      Type.Enum(['close', 'activate'], { title: 'MilestoneEvent', description: 'closes it, or activates it again' })
    )
  },
  { title: 'MilestoneChange', description: 'A change of a milestone.' }
)
export type MilestoneChange = Static<typeof MilestoneChange>
