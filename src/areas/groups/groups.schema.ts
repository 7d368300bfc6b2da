import { Flag, IdOf, Paging, Text } from '../../lib/schema.js'
import { type Static, Type } from '../../lib/type.js'

const flag = (description: string) => Type.Optional(Flag(description))

export const GroupListQuery = Type.Object({
  ...Paging,
  skip_groups: Type.Optional(
    Type.Array(IdOf('a group'), { maxItems: 1000, description: 'the ids of groups that are left out' })
  ),
  all_available: flag('true: all groups that you can see, not only your own'),
  search: Type.Optional(Text('text that stands in the name or path', { maxLength: 255 })),
  order_by: Type.Optional(
    Type.Enum(['name', 'path'], { title: 'GroupOrder', description: 'what the list is sorted by; default name' })
  ),
  statistics: flag('true: with what the projects of each group store'),
  sort: Type.Optional(
    Type.Enum(['asc', 'desc'], { title: 'SortUpFirst', description: 'ascending or descending; default asc' })
  )
})
export type GroupListQuery = Static<typeof GroupListQuery>
