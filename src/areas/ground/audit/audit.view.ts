// Not specified: the record of a change by an administrator, a command or the schedule.
import { Integer, Moment, Nullable, Text } from '../../../lib/schema.js'
import { parseStored } from '../../../lib/stored-json.js'
import { type Static, Type } from '../../../lib/type.js'
import type { AuditRow } from './audit.queries.js'

export const AuditEvent = Type.Object(
  {
    id: Integer('the id of the event'),
    created_at: Moment('when the change was made'),
    actor_id: Nullable(Integer('the id of the user who made the change; null for a command or the schedule')),
    actor_name: Text('the username, or the system account that ran a command'),
    acting_as: Nullable(Text('the username of the user whom an administrator acted as')),
    via: Text('private, personal, oauth, session, password, command, schedule, scim or nobody'),
    address: Nullable(Text("the address of the client; the host's name for a command")),
    action: Text('what was done, such as `user.block`'),
    target_type: Text('the type of the changed record, such as `user`'),
    target_id: Text('the id of that record'),
    target_name: Text('the name of the record at that time'),
    changes: Type.Unknown({ description: 'attribute -> {before, after}; for secrets, only that they changed' })
  },
  { title: 'AuditEvent', description: 'A change by an administrator, a command or the schedule.' }
)
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
  changes: parseStored<unknown>(event.changes, {})
})
