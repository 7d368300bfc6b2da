// The record "Member" of projects and groups.
import { IdOf, Integer, Nullable, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { viewUserBasic } from '../users/users.record.js'
import { UserBasic } from '../users/users.view.js'
import type { MemberRow } from './members.queries.js'

export const Member = Type.Object(
  {
    ...UserBasic.properties,
    access_level: Integer('Guest (10), Reporter (20), Developer (30), Master (40) or Owner (50)'),
    expires_at: Nullable(
      Text('the day (UTC) at the beginning of which it expires; null when it does not expire', { format: 'date' })
    )
  },
  { title: 'Member', description: 'A user who is a member of a project or group.' }
)

/** The response to the removal of a user who is not a member of the project ("Members, groups, namespaces"). */
export const Revoked = Type.Object(
  { message: Text('`Access revoked`'), id: IdOf('the user') },
  { title: 'RevokedAccess', description: 'A user who has no access.' }
)

export const viewMember = (member: MemberRow) =>
  Object.assign(viewUserBasic({ ...member, id: member.user_id }), {
    access_level: member.access_level,
    expires_at: member.expires_at
  })
