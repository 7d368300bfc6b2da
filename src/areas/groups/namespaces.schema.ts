import { Paging, Text } from '../../lib/schema.js'
import { type Static, Type } from '../../lib/type.js'

export const NamespaceListQuery = Type.Object({
  ...Paging,
  search: Type.Optional(Text('text that stands in the name or path', { maxLength: 255 }))
})
export type NamespaceListQuery = Static<typeof NamespaceListQuery>
