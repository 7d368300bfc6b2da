// Which operation tells system hooks of what: the table that docs/hooks.md shows, and that a test holds both to.
import type { SystemHookEvent } from './events.js'

/** Operation, as the API names it, -> the events that it emits. Commands call the same rules and emit the same. */
export const operations = {
  'POST /users': ['user_create'],
  // Another username is another path of each personal project.
  'PUT /users/:id': ['project_rename'],
  'DELETE /users/:id': ['user_destroy', 'project_destroy', 'key_destroy'],
  'POST /user/keys': ['key_create'],
  'DELETE /user/keys/:key_id': ['key_destroy'],
  'POST /users/:id/keys': ['key_create'],
  'DELETE /users/:id/keys/:key_id': ['key_destroy'],
  'POST /projects': ['project_create'],
  'POST /projects/:id/repository/files': ['push'],
  'PUT /projects/:id/repository/files': ['push'],
  'DELETE /projects/:id/repository/files': ['push'],
  'git push': ['push', 'tag_push']
} as const satisfies { readonly [operation: string]: readonly SystemHookEvent[] }

export type Operation = keyof typeof operations

/** The operations that emit an event; none for one that is named, and that nothing emits yet. */
export function operationsOf(event: SystemHookEvent): Operation[] {
  const names = Object.keys(operations) as Operation[]
  return names.filter(name => (operations[name] as readonly SystemHookEvent[]).includes(event))
}
