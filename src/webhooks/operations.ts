// Says which operation emits which events of system hooks. docs/hooks.md shows this table, and a test checks both.
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
  'POST /projects': ['project_create'],
  'POST /projects/user/:user_id': ['project_create'],
  'POST /projects/fork/:id': ['project_create'],
  // Only another path.
  'PUT /projects/:id': ['project_rename'],
  'DELETE /projects/:id': ['project_destroy'],
  'POST /groups/:id/projects/:project_id': ['project_transfer'],
  'POST /projects/:id/repository/files': ['push'],
  'PUT /projects/:id/repository/files': ['push'],
  'DELETE /projects/:id/repository/files': ['push'],
  'git push': ['push', 'tag_push']
} as const satisfies { readonly [operation: string]: readonly SystemHookEvent[] }

export type Operation = keyof typeof operations

/** The operations that emit an event; an empty list when nothing emits it yet. */
export function operationsOf(event: SystemHookEvent): Operation[] {
  const names = Object.keys(operations) as Operation[]
  return names.filter(name => (operations[name] as readonly SystemHookEvent[]).includes(event))
}
