// Makes the payloads of system hooks for projects, users, members and keys.
import { levelName, visibilityName } from '../lib/levels.js'
import { dateTime } from './payloads.js'

interface Dated {
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A project in the form of system events. */
export interface PayloadSystemProject extends Dated {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly pathWithNamespace: string
  readonly visibilityLevel: number
  /** For a personal project, its user. For a project of a group, the name of the group with an empty email. */
  readonly owner: { readonly name: string; readonly email: string }
}

export interface PayloadSystemUser extends Dated {
  readonly id: number
  readonly name: string
  readonly username: string
  readonly email: string
}

/** A membership. The dates are those of the membership. */
export interface PayloadMember extends Dated {
  readonly accessLevel: number
  readonly user: Omit<PayloadSystemUser, keyof Dated>
  readonly project: Pick<PayloadSystemProject, 'id' | 'name' | 'path' | 'pathWithNamespace' | 'visibilityLevel'>
}

/** A membership of a group. The dates are those of the membership. */
export interface PayloadGroupMember extends Dated {
  readonly accessLevel: number
  readonly user: Omit<PayloadSystemUser, keyof Dated>
  readonly group: Omit<PayloadGroup, keyof Dated>
}

export interface PayloadGroup extends Dated {
  readonly id: number
  readonly name: string
  readonly path: string
}

export interface PayloadKey extends Dated {
  readonly id: number
  /** The public key as its owner entered it. */
  readonly key: string
  readonly username: string
}

export function projectPayload(event: 'project_create' | 'project_destroy', project: PayloadSystemProject) {
  return { ...dated(event, project), ...projectFields(project) }
}

export function projectMovePayload(
  event: 'project_rename' | 'project_transfer',
  project: PayloadSystemProject,
  oldPathWithNamespace: string
) {
  return {
    ...dated(event, project),
    ...projectFields(project),
    old_path_with_namespace: oldPathWithNamespace
  }
}

export function userPayload(event: 'user_create' | 'user_destroy', user: PayloadSystemUser) {
  return {
    ...dated(event, user),
    name: user.name,
    email: user.email,
    user_id: user.id,
    username: user.username
  }
}

export function memberPayload(event: 'user_add_to_team' | 'user_remove_from_team', member: PayloadMember) {
  const { project, user } = member
  return {
    ...dated(event, member),
    project_name: project.name,
    project_path: project.path,
    project_path_with_namespace: project.pathWithNamespace,
    project_id: project.id,
    ...memberFields(user),
    // Decided: both names, because receivers look for one or the other.
    access_level: levelName(member.accessLevel),
    project_access: levelName(member.accessLevel),
    project_visibility: visibilityName(project.visibilityLevel)
  }
}

export function groupPayload(event: 'group_create' | 'group_destroy', group: PayloadGroup) {
  return {
    ...dated(event, group),
    name: group.name,
    path: group.path,
    group_id: group.id,
    owner_name: null,
    owner_email: null
  }
}

export function groupMemberPayload(event: 'user_add_to_group' | 'user_remove_from_group', member: PayloadGroupMember) {
  const { group, user } = member
  return {
    ...dated(event, member),
    group_name: group.name,
    group_path: group.path,
    group_id: group.id,
    ...memberFields(user),
    group_access: levelName(member.accessLevel)
  }
}

export function keyPayload(event: 'key_create' | 'key_destroy', key: PayloadKey) {
  return { ...dated(event, key), id: key.id, key: key.key, username: key.username }
}

// Decided: the fields of a user key, without a name.
export function deployKeyPayload(event: 'deploykey_create' | 'deploykey_destroy', key: Omit<PayloadKey, 'username'>) {
  return { ...dated(event, key), id: key.id, key: key.key }
}

/** The fixed sample that the test of a system hook sends. */
export function samplePayload() {
  return {
    event_name: 'project_create',
    name: 'Ruby',
    path: 'ruby',
    project_id: 1,
    owner_name: 'Someone',
    owner_email: 'someone@example.com'
  }
}

function dated<Event extends string>(event: Event, record: Dated) {
  return { event_name: event, created_at: dateTime(record.createdAt), updated_at: dateTime(record.updatedAt) }
}

function memberFields({ id, username, name, email }: PayloadMember['user']) {
  return { user_username: username, user_name: name, user_email: email, user_id: id }
}

function projectFields(project: PayloadSystemProject) {
  return {
    name: project.name,
    path: project.path,
    path_with_namespace: project.pathWithNamespace,
    project_id: project.id,
    owner_name: project.owner.name,
    owner_email: project.owner.email,
    project_visibility: visibilityName(project.visibilityLevel)
  }
}
