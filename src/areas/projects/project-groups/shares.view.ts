// The record "Project group link".
import { IdOf, Integer, Nullable, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import type { ShareLink } from './shares.js'

export const ProjectGroupLink = Type.Object(
  {
    id: IdOf('the link'),
    project_id: IdOf('the project'),
    group_id: IdOf('the group'),
    group_access: Integer('the highest level that members of the group have in the project'),
    expires_at: Nullable(Text('the day (YYYY-MM-DD) on which the share ends'))
  },
  { title: 'ProjectGroupLink', description: 'A project that is shared with a group.' }
)

export const viewShareLink = ({ id, project_id, group_id, group_access, expires_at }: ShareLink) => ({
  id,
  project_id,
  group_id,
  group_access,
  expires_at
})
