// The record "Group": the item of a list, and the detail without its projects, which the area of projects adds.
import { publicUrl } from '../../../config.js'
import { Flag, IdOf, Integer, Nullable, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import type { GroupRecord, GroupStatistics } from './groups.queries.js'

const item = {
  id: IdOf('the group'),
  name: Text('the display name'),
  path: Text('the first part of the paths of its projects'),
  description: Text('the description of the group')
}

const Statistics = Type.Object(
  {
    storage_size: Integer('bytes that the projects of the group store in total'),
    repository_size: Integer('bytes of their repositories'),
    lfs_objects_size: Integer('bytes of git LFS objects; 0, because the appliance has no LFS'),
    build_artifacts_size: Integer('bytes of their build artifacts')
  },
  { title: 'GroupStatistics', description: 'What the projects of a group store. Jobs count it soon after each change.' }
)

export const GroupItem = Type.Object(
  { ...item, statistics: Type.Optional(Statistics) },
  { title: 'GroupItem', description: 'A group in a list; with statistics only on request.' }
)

export const groupFields = {
  ...item,
  visibility_level: Integer('private (0), internal (10) or public (20)'),
  lfs_enabled: Flag('whether its projects accept git LFS'),
  avatar_url: Nullable(Text('the URL of the picture')),
  web_url: Text('the URL of the page of the group'),
  request_access_enabled: Flag('whether users may request access')
}

type GroupItem = Static<typeof GroupItem>

export const viewGroupItem = ({ id, name, path, description }: GroupRecord): GroupItem => ({
  id,
  name,
  path,
  description
})

/** Returns the item with what its projects store. */
export const withStatistics =
  (counted: ReadonlyMap<number, GroupStatistics>) =>
  (group: GroupRecord): GroupItem =>
    Object.assign(viewGroupItem(group), { statistics: viewStatistics(counted.get(group.id)) })

function viewStatistics(counted: GroupStatistics | undefined): Static<typeof Statistics> {
  const { repository_size: repository = 0, build_artifacts_size: artifacts = 0 } = counted ?? {}
  return {
    storage_size: repository + artifacts,
    repository_size: repository,
    lfs_objects_size: 0,
    build_artifacts_size: artifacts
  }
}

export const viewGroup = (group: GroupRecord) => ({
  ...viewGroupItem(group),
  visibility_level: group.visibility_level,
  lfs_enabled: group.lfs_enabled === 1,
  avatar_url: group.avatar,
  web_url: `${publicUrl()}/groups/${group.path}`,
  request_access_enabled: group.request_access_enabled === 1
})
