import { Paging, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

export const TriggerParams = Type.Object({
  ...projectParam,
  token: Text('the token of the trigger', { maxLength: 255 })
})
export const TriggerListQuery = Type.Object(Paging)

const call = {
  token: Text('the token of the trigger', { minLength: 1, maxLength: 255 }),
  // The rule checks the values, because their error has its own text.
  variables: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'variables for the builds: names and texts' })
  )
}
const ref = Text('the branch or tag', { minLength: 1, maxLength: 255 })

export const RefParams = Type.Object({ ...projectParam, ref })
export const TriggerCall = Type.Object(call, {
  title: 'TriggerCall',
  description: 'The token of a trigger, and the variables of its builds.'
})
export const TriggerRefCall = Type.Object(
  { ...call, ref },
  {
    title: 'TriggerRefCall',
    description: 'The token of a trigger, the branch or tag, and the variables of its builds.'
  }
)
export type TriggerCall = Static<typeof TriggerCall>
