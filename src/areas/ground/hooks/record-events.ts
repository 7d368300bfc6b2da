// Maps events that contain their record to the events of system hooks.
import {
  deployKeyPayload,
  groupMemberPayload,
  groupPayload,
  keyPayload,
  memberPayload,
  projectMovePayload,
  projectPayload,
  userPayload
} from '../../../webhooks/system-payloads.js'
import { MAIL_ONLY } from '../activity/account-events.js'
import type { Stored } from '../activity/events.js'
import type { ByKind } from '../activity/listeners.js'
import type { ProjectSnapshot } from '../activity/project-snapshots.js'
import type {
  DeployKeySnapshot,
  GroupSnapshot,
  KeySnapshot,
  MemberSnapshot,
  UserSnapshot
} from '../activity/snapshots.js'
import type { HookEvent } from './hook-events.js'

export const recordEvents = {
  'user.created': ({ event: { user } }) => userEvent('user_create', user),
  'user.deleted': ({ event: { user } }) => userEvent('user_destroy', user),
  'key.added': ({ event: { key } }) => keyEvent('key_create', key),
  'key.removed': ({ event: { key } }) => keyEvent('key_destroy', key),
  'deploy_key.created': ({ event: { key } }) => deployKeyEvent('deploykey_create', key),
  'deploy_key.deleted': ({ event: { key } }) => deployKeyEvent('deploykey_destroy', key),
  'group.created': ({ event: { group } }) => groupEvent('group_create', group),
  'group.deleted': ({ event: { group } }) => groupEvent('group_destroy', group),
  'member.added': ({ event: { member } }) => memberEvent('add_to', member),
  'member.removed': ({ event: { member } }) => memberEvent('remove_from', member),
  'project.created': ({ event: { project } }) => projectEvent('project_create', project),
  // A restored project is a new project for the receiver.
  'project.restored': ({ event: { project } }) => projectEvent('project_create', project),
  'project.renamed': ({ event: { project, old_path_with_namespace: old } }) =>
    moveEvent('project_rename', project, old),
  'project.transferred': ({ event: { project, old_path_with_namespace: old } }) =>
    moveEvent('project_transfer', project, old),
  'project.deleted': ({ event: { project } }) => projectEvent('project_destroy', project),
  // Not specified: hook events for what only mail reports.
  ...MAIL_ONLY,
  'milestone.changed': null
} as const satisfies Partial<ByKind<HookEvent>>

const userEvent = (event: 'user_create' | 'user_destroy', user: Stored<UserSnapshot>) => ({
  system: { event, payload: () => userPayload(event, userOf(user)) }
})

const keyEvent = (event: 'key_create' | 'key_destroy', key: Stored<KeySnapshot>) => ({
  system: { event, payload: () => keyPayload(event, keyOf(key)) }
})

const deployKeyEvent = (event: 'deploykey_create' | 'deploykey_destroy', key: Stored<DeployKeySnapshot>) => ({
  system: { event, payload: () => deployKeyPayload(event, { id: key.id, key: key.key, ...datesOf(key) }) }
})

const groupEvent = (event: 'group_create' | 'group_destroy', group: Stored<GroupSnapshot>) => ({
  system: { event, payload: () => groupPayload(event, { ...group, ...datesOf(group) }) }
})

function memberEvent(verb: 'add_to' | 'remove_from', member: Stored<MemberSnapshot>): HookEvent {
  const { source, user, access_level: accessLevel } = member
  const common = { accessLevel, user, ...datesOf(member) }
  if (source.type === 'namespace') {
    const event = `user_${verb}_group` as const
    return { system: { event, payload: () => groupMemberPayload(event, { ...common, group: source }) } }
  }
  const event = `user_${verb}_team` as const
  const project = {
    ...source,
    pathWithNamespace: source.path_with_namespace,
    visibilityLevel: source.visibility_level
  }
  return { system: { event, payload: () => memberPayload(event, { ...common, project }) } }
}

const projectEvent = (event: 'project_create' | 'project_destroy', project: Stored<ProjectSnapshot>) => ({
  system: { event, payload: () => projectPayload(event, projectOf(project)) }
})

const datesOf = ({ created_at, updated_at }: { readonly created_at: string; readonly updated_at: string }) => ({
  createdAt: new Date(created_at),
  updatedAt: new Date(updated_at)
})

const moveEvent = (event: 'project_rename' | 'project_transfer', project: Stored<ProjectSnapshot>, old: string) => ({
  system: { event, payload: () => projectMovePayload(event, projectOf(project), old) }
})

const userOf = ({ id, username, name, email, ...dates }: Stored<UserSnapshot>) => ({
  id,
  username,
  name,
  email,
  ...datesOf(dates)
})

/** A key never changes, so the time of its update is the time of its creation. */
const keyOf = ({ id, key, username, created_at }: Stored<KeySnapshot>) => ({
  id,
  key,
  username,
  createdAt: new Date(created_at),
  updatedAt: new Date(created_at)
})

const projectOf = (project: Stored<ProjectSnapshot>) => ({
  id: project.id,
  name: project.name,
  path: project.path,
  pathWithNamespace: project.path_with_namespace,
  visibilityLevel: project.visibility_level,
  owner: { name: project.owner_name, email: project.owner_email },
  ...datesOf(project)
})
