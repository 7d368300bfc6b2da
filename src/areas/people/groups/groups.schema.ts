import { Flag, IdOf, Paging, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

const flag = (description: string) => Type.Optional(Flag(description))

export const GroupListQuery = Type.Object({
  ...Paging,
  skip_groups: Type.Optional(
    Type.Array(IdOf('a group'), { maxItems: 1000, description: 'the ids of groups to leave out' })
  ),
  all_available: flag('true: all groups that you can see, not only those of which you are a member'),
  search: Type.Optional(Text('a text in the name or path', { maxLength: 255 })),
  order_by: Type.Optional(
    Type.Enum(['name', 'path'], { title: 'GroupOrder', description: 'the sort key of the list; default name' })
  ),
  statistics: flag('true: include the storage statistics of each group'),
  sort: Type.Optional(
    Type.Enum(['asc', 'desc'], { title: 'SortUpFirst', description: 'ascending or descending; default asc' })
  )
})
export type GroupListQuery = Static<typeof GroupListQuery>
