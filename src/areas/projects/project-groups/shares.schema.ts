import { IdOf, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

export const ShareBody = Type.Object(
  {
    group_id: IdOf('the group'),
    group_access: Type.Enum([10, 20, 30, 40], {
      title: 'ShareLevel',
      description: 'the highest level that its members have: Guest (10), Reporter (20), Developer (30) or Master (40)'
    }),
    expires_at: Type.Optional(
      Text('the day (YYYY-MM-DD) on which the share ends', { pattern: '^\\d{4}-\\d{2}-\\d{2}$' })
    )
  },
  { title: 'ShareBody', description: 'A group that a project is shared with.' }
)
export type ShareBody = Static<typeof ShareBody>

export const ShareParams = Type.Object({ ...projectParam, group_id: Text('the id of the group', { maxLength: 255 }) })
