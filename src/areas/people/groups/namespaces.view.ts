import { IdOf, OneOf, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import type { NamespaceRow } from './namespaces.queries.js'

export const NamespaceItem = Type.Object(
  {
    id: IdOf('the namespace'),
    name: Text('the display name'),
    path: Text('the first part of the paths of its projects'),
    kind: OneOf(['user', 'group'], 'NamespaceKind', 'the type of the owner: a user or a group')
  },
  { title: 'Namespace', description: 'A place for projects: the namespace of a user, or a group.' }
)

export const viewNamespaceItem = ({ id, name, path, kind }: NamespaceRow): Static<typeof NamespaceItem> => ({
  id,
  name,
  path,
  kind
})
