// "System hook". The token is never shown.
import { Type } from 'typebox'
import type { Hook as Row } from '../../db/models/index.js'
import { DateTime, Nullable } from '../../lib/schema.js'
import type { HookHealth } from './hooks.queries.js'

const record = {
  id: Type.Integer(),
  url: Type.String(),
  created_at: DateTime,
  push_events: Type.Boolean(),
  tag_push_events: Type.Boolean(),
  enable_ssl_verification: Type.Boolean()
}

export const SystemHook = Type.Object(record)

export const DeletedSystemHook = Type.Object({
  ...record,
  note_events: Type.Boolean(),
  issues_events: Type.Boolean(),
  merge_requests_events: Type.Boolean(),
  project_id: Nullable(Type.Integer()),
  service_id: Nullable(Type.Integer()),
  updated_at: DateTime
})

export const SamplePayload = Type.Object({
  project_id: Type.Integer(),
  owner_email: Type.String(),
  owner_name: Type.String(),
  name: Type.String(),
  path: Type.String(),
  event_name: Type.String()
})

export const viewSystemHook = (hook: Row) => ({
  id: hook.id,
  url: hook.url,
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

/** What the command line shows: all flags, whether there is a token, and how the receiver does. */
export const viewHookWithHealth = (hook: Row, health: HookHealth | undefined) => ({
  ...viewDeletedSystemHook(hook),
  has_token: hook.tokenEncrypted !== null,
  failures: health?.failures ?? 0,
  resting_until: health?.resting_until ?? null,
  pending_deliveries: health?.pending ?? 0,
  dead_deliveries: health?.dead ?? 0
})
