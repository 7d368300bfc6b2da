// The input of the routes about one group. Their answers show its projects, so they are in this area.
import { Flag, Text } from '../../lib/schema.js'
import { Type } from '../../lib/type.js'

const flag = (description: string) => Type.Optional(Flag(description))

const change = {
  description: Type.Optional(Text('what the group is about, in at most 255 characters')),
  visibility_level: Type.Optional(
    Type.Enum([0, 10, 20], {
      title: 'GroupVisibilityLevel',
      description: 'private (0), internal (10) or public (20); default by the settings'
    })
  ),
  lfs_enabled: flag('whether its projects take large files by git LFS'),
  request_access_enabled: flag('whether users may ask to become members'),
  // Not specified: the requirement shows this attribute of a namespace, and no way to change it.
  share_with_group_lock: flag('whether its projects cannot be shared with other groups')
}

export const GroupBody = Type.Object(
  {
    name: Text('the name that people read, of at most 255 characters'),
    path: Text('the first part of the paths of its projects, of at most 255 characters'),
    ...change
  },
  { title: 'GroupBody', description: 'A new group.' }
)

export const GroupChange = Type.Object(
  {
    name: Type.Optional(Text('the name that people read, of at most 255 characters')),
    path: Type.Optional(Text('the first part of the paths of its projects, of at most 255 characters')),
    ...change
  },
  { title: 'GroupChange', description: 'What changes of a group.' }
)
