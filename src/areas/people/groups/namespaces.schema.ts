import { Paging, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

export const NamespaceListQuery = Type.Object({
  ...Paging,
  search: Type.Optional(Text('a text in the name or path', { maxLength: 255 }))
})
export type NamespaceListQuery = Static<typeof NamespaceListQuery>
