// The record "System hook" of the requirement. It never contains the token.
import type { Hook as Row } from '../../../db/models/index.js'
import { Flag, IdOf, Moment, Nullable, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { shownUrl, withoutPassword } from '../../../webhooks/url.js'
import type { HookHealth } from './hooks.queries.js'

const record = {
  id: IdOf('the hook'),
  url: Text('the URL that is called, with `redacted` in place of a password; only people who may edit the hook see it'),
  created_at: Moment('when it was created'),
  push_events: Flag('whether it receives pushes'),
  tag_push_events: Flag('whether it receives pushes of tags'),
  enable_ssl_verification: Flag('whether the certificate of the receiver is verified')
}

export const SystemHook = Type.Object(record, {
  title: 'SystemHook',
  description: 'A URL that receives events. Its token is never shown.'
})

export const DeletedSystemHook = Type.Object(
  {
    ...record,
    note_events: Flag('whether it received events of comments'),
    issues_events: Flag('whether it received events of issues'),
    merge_requests_events: Flag('whether it received events of merge requests'),
    project_id: Nullable(IdOf('the project; always null for system hooks')),
    service_id: Nullable(IdOf('the service; always null for system hooks')),
    updated_at: Moment('when it last changed')
  },
  { title: 'DeletedSystemHook', description: 'The deleted system hook.' }
)

export const SamplePayload = Type.Object(
  {
    project_id: IdOf('a project'),
    owner_email: Text('the email address of its owner'),
    owner_name: Text('the name of its owner'),
    name: Text('its name'),
    path: Text('the last part of its path'),
    event_name: Text('the name of the event, such as `project_create`')
  },
  { title: 'SystemHookSample', description: 'A sample payload, of a project that does not exist.' }
)

export const viewSystemHook = (hook: Row) => ({
  id: hook.id,
  url: withoutPassword(hook.url),
  created_at: hook.createdAt,
  push_events: hook.pushEvents,
  tag_push_events: hook.tagPushEvents,
  enable_ssl_verification: hook.enableSslVerification
})

export const viewDeletedSystemHook = (hook: Row) => ({
  ...viewSystemHook(hook),
  note_events: hook.noteEvents,
  issues_events: hook.issuesEvents,
  merge_requests_events: hook.mergeRequestsEvents,
  project_id: null,
  service_id: null,
  updated_at: hook.updatedAt
})

/** Returns the view for lists and for messages on a terminal: the same, but without the values of the URL's query. */
export const viewListedHook = (hook: Row, health: HookHealth | undefined) => ({
  ...viewHookWithHealth(hook, health),
  url: shownUrl(hook.url)
})

export type ListedHook = ReturnType<typeof viewListedHook>

/** Returns the view for the command line: all flags, whether the hook has a token, and the receiver's health. */
export const viewHookWithHealth = (hook: Row, health: HookHealth | undefined) => ({
  ...viewDeletedSystemHook(hook),
  has_token: hook.tokenEncrypted !== null,
  failures: health?.failures ?? 0,
  resting_until: health?.resting_until ?? null,
  pending_deliveries: health?.pending ?? 0,
  dead_deliveries: health?.dead ?? 0
})
