import { projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

export const ForkBody = Type.Object(
  {
    namespace: Type.Optional(
      Text('the id, path or name of the namespace that gets the fork; your own without it', { maxLength: 255 })
    )
  },
  { title: 'ForkBody', description: 'The target of a fork.' }
)
export type ForkBody = Static<typeof ForkBody>

export const ForkParams = Type.Object({
  ...projectParam,
  forked_from_id: Text('the id or path of the source project', { minLength: 1, maxLength: 1024 })
})
