// What the routes of members and access requests need to know about projects and groups.
import type { Actor } from '../../../access/actor.js'
import { levelIn, levelInGroup, type ProjectAccess } from '../../../access/authorize.js'
import { MASTER, OWNER } from '../../../lib/levels.js'
import { GroupParams, ProjectParams } from '../../../lib/schema.js'
import type { GroupRow } from '../groups/groups.queries.js'
import type { Source } from './members.js'
import { GroupMemberParams, ProjectMemberParams } from './members.schema.js'
import { type SourceProject, sourceOfGroup, sourceOfProject } from './sources.js'

/** The parts of a request that the routes need. The path names a project or a group. */
interface SourceRequest {
  readonly project: ProjectAccess & SourceProject & { readonly request_access_enabled: number }
  readonly group: GroupRow
  readonly actor: Actor
}

const ofProjects = {
  of: 'project',
  path: 'projects',
  params: ProjectParams,
  member: ProjectMemberParams,
  members: { read: 'member.read', write: 'member.write', remove: 'member.remove' },
  requests: {
    read: 'access_request.read',
    create: 'access_request.create',
    approve: 'access_request.approve',
    remove: 'access_request.remove'
  },
  source: ({ project }: SourceRequest): Source => sourceOfProject(project),
  level: ({ project, actor }: SourceRequest) => levelIn(project, actor),
  administers: ({ project, actor }: SourceRequest) => levelIn(project, actor) >= MASTER,
  takesRequests: ({ project }: SourceRequest) => project.request_access_enabled === 1
} as const

const ofGroups = {
  of: 'group',
  path: 'groups',
  params: GroupParams,
  member: GroupMemberParams,
  members: { read: 'group_member.read', write: 'group_member.write', remove: 'group_member.remove' },
  requests: {
    read: 'group_access_request.read',
    create: 'group_access_request.create',
    approve: 'group_access_request.approve',
    remove: 'group_access_request.remove'
  },
  source: ({ group }: SourceRequest): Source => sourceOfGroup(group),
  level: ({ group, actor }: SourceRequest) => levelInGroup(group, actor),
  administers: ({ group, actor }: SourceRequest) => levelInGroup(group, actor) >= OWNER,
  takesRequests: ({ group }: SourceRequest) => group.request_access_enabled === 1
} as const

export const REQUEST_SOURCES = [ofProjects, ofGroups] as const
