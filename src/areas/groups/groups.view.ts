// The record "Group": the item of a list, and the detail without its projects, which the area of projects adds.
import { type Static, Type } from 'typebox'
import { publicUrl } from '../../config.js'
import { Flag, IdOf, Integer, Nullable, Text } from '../../lib/schema.js'
import type { GroupRecord } from './groups.queries.js'

const item = {
  id: IdOf('the group'),
  name: Text('the name that people read'),
  path: Text('the first part of the paths of its projects'),
  description: Text('what the group is about')
}

export const GroupItem = Type.Object(item, { title: 'GroupItem', description: 'A group in a list.' })

export const groupFields = {
  ...item,
  visibility_level: Integer('private (0), internal (10) or public (20)'),
  lfs_enabled: Flag('whether its projects take large files by git LFS; false, because the appliance has no LFS'),
  avatar_url: Nullable(Text('the URL of the picture')),
  web_url: Text('the URL of the page of the group'),
  request_access_enabled: Flag('whether users may ask to become members')
}

export const viewGroupItem = ({ id, name, path, description }: GroupRecord): Static<typeof GroupItem> => ({
  id,
  name,
  path,
  description
})

export const viewGroup = (group: GroupRecord) => ({
  ...viewGroupItem(group),
  visibility_level: group.visibility_level,
  lfs_enabled: false, // the choice of the group is kept for the time when there is LFS
  avatar_url: group.avatar,
  web_url: `${publicUrl()}/groups/${group.path}`,
  request_access_enabled: group.request_access_enabled === 1
})
