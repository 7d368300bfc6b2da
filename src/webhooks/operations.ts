// Lists the events of system hooks that each operation emits. docs/operate/hooks.md shows this table, and a test checks both.
import type { SystemHookEvent } from './events.js'

/** The events of each operation, by its name in the API. Commands use the same rules and emit the same events. */
export const operations = {
  'POST /users': ['user_create'],
  // A new username changes the path of each personal project.
  'PUT /users/:id': ['project_rename'],
  'DELETE /users/:id': ['user_destroy', 'project_destroy', 'key_destroy'],
  'POST /user/keys': ['key_create'],
  'DELETE /user/keys/:key_id': ['key_destroy'],
  'POST /users/:id/keys': ['key_create'],
  'DELETE /users/:id/keys/:key_id': ['key_destroy'],
  'POST /groups': ['group_create', 'user_add_to_group'],
  // A new path changes the path of each of its projects.
  'PUT /groups/:id': ['project_rename'],
  'DELETE /groups/:id': ['group_destroy', 'project_destroy'],
  'POST /groups/:id/members': ['user_add_to_group'],
  'DELETE /groups/:id/members/:user_id': ['user_remove_from_group'],
  'PUT /groups/:id/access_requests/:user_id/approve': ['user_add_to_group'],
  'POST /projects': ['project_create'],
  'POST /projects/user/:user_id': ['project_create'],
  'POST /projects/fork/:id': ['project_create'],
  // Only when the path changes.
  'PUT /projects/:id': ['project_rename'],
  'DELETE /projects/:id': ['project_destroy'],
  'POST /groups/:id/projects/:project_id': ['project_transfer'],
  'POST /projects/:id/members': ['user_add_to_team'],
  'DELETE /projects/:id/members/:user_id': ['user_remove_from_team'],
  'PUT /projects/:id/access_requests/:user_id/approve': ['user_add_to_team'],
  // A key that the project already has, or gets from another project, is not a new key.
  'POST /projects/:id/deploy_keys': ['deploykey_create'],
  // A private key is deleted together with its last project.
  'DELETE /projects/:id/deploy_keys/:key_id': ['deploykey_destroy'],
  'DELETE /projects/:id/deploy_keys/:key_id/disable': ['deploykey_destroy'],
  'POST /projects/:id/repository/files': ['push'],
  'PUT /projects/:id/repository/files': ['push'],
  'DELETE /projects/:id/repository/files': ['push'],
  'POST /projects/:id/repository/branches': ['push'],
  'DELETE /projects/:id/repository/branches/:branch': ['push'],
  'DELETE /projects/:id/repository/merged_branches': ['push'],
  'POST /projects/:id/repository/tags': ['tag_push'],
  'POST /projects/:id/repository/commits': ['push'],
  'POST /projects/:id/repository/commits/:sha/cherry_pick': ['push'],
  // Removing the source branch after the merge emits another push.
  'PUT /projects/:id/merge_requests/:merge_request_id/merge': ['push'],
  'git push': ['push', 'tag_push']
} as const satisfies { readonly [operation: string]: readonly SystemHookEvent[] }

export type Operation = keyof typeof operations

/** The operations that emit an event; an empty list when nothing emits it yet. */
export function operationsOf(event: SystemHookEvent): Operation[] {
  const names = Object.keys(operations) as Operation[]
  return names.filter(name => (operations[name] as readonly SystemHookEvent[]).includes(event))
}
