// The record of a group that commands print. This file does not load TypeBox, which takes 0.1 s.
import { visibilityName } from '../../../lib/levels.js'
import type { CountedGroup } from './groups.queries.js'

export type GroupLine = ReturnType<typeof viewGroupLine>

export const viewGroupLine = (group: CountedGroup) => ({
  id: group.id,
  path: group.path,
  name: group.name,
  description: group.description,
  projects: group.projects,
  members: group.members,
  storage_size: group.storage_size,
  created_at: group.created_at,
  visibility: visibilityName(group.visibility_level),
  request_access_enabled: group.request_access_enabled === 1,
  share_with_group_lock: group.share_with_group_lock === 1
})
