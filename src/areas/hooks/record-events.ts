// Maps happenings that contain their record to the events of system hooks.
import { keyPayload, projectMovePayload, projectPayload, userPayload } from '../../webhooks/system-payloads.js'
import type { Stored } from '../activity/happenings.js'
import type { ByKind } from '../activity/listeners.js'
import type { ProjectSnapshot } from '../activity/project-snapshots.js'
import type { KeySnapshot, UserSnapshot } from '../activity/snapshots.js'
import type { HookEvent } from './hook-events.js'

export const recordEvents = {
  'user.created': ({ happening: { user } }) => userEvent('user_create', user),
  'user.deleted': ({ happening: { user } }) => userEvent('user_destroy', user),
  'key.added': ({ happening: { key } }) => keyEvent('key_create', key),
  'key.removed': ({ happening: { key } }) => keyEvent('key_destroy', key),
  'project.created': ({ happening: { project } }) => projectEvent('project_create', project),
  // A restored project is a new project for the receiver.
  'project.restored': ({ happening: { project } }) => projectEvent('project_create', project),
  'project.renamed': ({ happening: { project, old_path_with_namespace: old } }) =>
    moveEvent('project_rename', project, old),
  'project.transferred': ({ happening: { project, old_path_with_namespace: old } }) =>
    moveEvent('project_transfer', project, old),
  'project.deleted': ({ happening: { project } }) => projectEvent('project_destroy', project)
} as const satisfies Partial<ByKind<HookEvent>>

const userEvent = (event: 'user_create' | 'user_destroy', user: Stored<UserSnapshot>) => ({
  system: { event, payload: () => userPayload(event, userOf(user)) }
})

const keyEvent = (event: 'key_create' | 'key_destroy', key: Stored<KeySnapshot>) => ({
  system: { event, payload: () => keyPayload(event, keyOf(key)) }
})

const projectEvent = (event: 'project_create' | 'project_destroy', project: Stored<ProjectSnapshot>) => ({
  system: { event, payload: () => projectPayload(event, projectOf(project)) }
})

const moveEvent = (event: 'project_rename' | 'project_transfer', project: Stored<ProjectSnapshot>, old: string) => ({
  system: { event, payload: () => projectMovePayload(event, projectOf(project), old) }
})

const userOf = ({ id, username, name, email, created_at, updated_at }: Stored<UserSnapshot>) => ({
  id,
  username,
  name,
  email,
  createdAt: new Date(created_at),
  updatedAt: new Date(updated_at)
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
  createdAt: new Date(project.created_at),
  updatedAt: new Date(project.updated_at)
})
