// The record "Access request", and the response to its approval.
import { IdOf, Integer, Moment, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { UserState } from '../users/users.view.js'
import type { AccessRequestRow } from './access-requests.queries.js'
import type { MemberRow } from './members.queries.js'

const user = {
  id: IdOf('the user who requests access'),
  username: Text('the name for paths and for signing in'),
  name: Text('the display name'),
  state: UserState,
  created_at: Moment('when the account was created')
}

export const AccessRequest = Type.Object(
  { ...user, requested_at: Moment('when the user requested access') },
  { title: 'AccessRequest', description: 'A user who requests access.' }
)

export const ApprovedRequest = Type.Object(
  { ...user, access_level: Integer('the level of the new member') },
  { title: 'ApprovedAccessRequest', description: 'A user whose request was approved, and who is now a member.' }
)

const viewRequester = ({ user_id, username, name, state, created_at }: AccessRequestRow) => ({
  id: user_id,
  username,
  name,
  state,
  created_at
})

export const viewAccessRequest = (request: AccessRequestRow) =>
  Object.assign(viewRequester(request), { requested_at: request.requested_at })

export const viewApproved = (request: AccessRequestRow, { access_level }: MemberRow) =>
  Object.assign(viewRequester(request), { access_level })
