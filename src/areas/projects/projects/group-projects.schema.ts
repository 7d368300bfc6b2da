// The input of the routes about one group. Their responses contain its projects, so they are in this area.
import { Flag, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'

const flag = (description: string) => Type.Optional(Flag(description))

const change = {
  description: Type.Optional(Text('the description of the group, at most 255 characters')),
  visibility_level: Type.Optional(
    Type.Enum([0, 10, 20], {
      title: 'GroupVisibilityLevel',
      description: 'private (0), internal (10) or public (20); the default depends on the settings'
    })
  ),
  lfs_enabled: flag('whether its projects accept git LFS'),
  request_access_enabled: flag('whether users may request access'),
  // Not specified: how to change this attribute, which the requirement shows in namespaces.
  share_with_group_lock: flag('whether its projects cannot be shared with other groups')
}

export const GroupBody = Type.Object(
  {
    name: Text('the display name, at most 255 characters'),
    path: Text('the first part of the paths of its projects, at most 255 characters'),
    ...change
  },
  { title: 'GroupBody', description: 'A new group.' }
)

export const GroupChange = Type.Object(
  {
    name: Type.Optional(Text('the display name, at most 255 characters')),
    path: Type.Optional(Text('the first part of the paths of its projects, at most 255 characters')),
    ...change
  },
  { title: 'GroupChange', description: 'The new attributes of a group.' }
)
