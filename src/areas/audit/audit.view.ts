// Not specified: the record of a change that was made by an administrator, a command or the schedule.
import { type Static, Type } from 'typebox'
import { DateTime, Nullable } from '../../lib/schema.js'
import type { AuditRow } from './audit.queries.js'

export const AuditEvent = Type.Object({
  id: Type.Integer(),
  created_at: DateTime,
  actor_id: Nullable(Type.Integer({ description: 'null for a command or the schedule' })),
  actor_name: Type.String({ description: 'a username, or the account of the system that ran a command' }),
  acting_as: Nullable(Type.String({ description: 'whom an administrator acted as' })),
  via: Type.String({ description: 'private, personal, session, password, command, schedule or nobody' }),
  address: Nullable(Type.String({ description: "of the client; the host's name for a command" })),
  action: Type.String(),
  target_type: Type.String(),
  target_id: Type.String(),
  target_name: Type.String(),
  changes: Type.Unknown({ description: 'attribute -> {before, after}; of secrets, that they changed' })
})
export type AuditEvent = Static<typeof AuditEvent>

export const viewAuditEvent = (event: AuditRow): AuditEvent => ({
  id: event.id,
  created_at: event.created_at,
  actor_id: event.actor_id,
  actor_name: event.actor_name,
  acting_as: event.acting_as,
  via: event.via,
  address: event.address,
  action: event.action,
  target_type: event.target_type,
  target_id: event.target_id,
  target_name: event.target_name,
  changes: JSON.parse(event.changes) as unknown
})
