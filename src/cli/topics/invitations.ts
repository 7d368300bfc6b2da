import type { InvitationRow } from '../../areas/reach/accounts/invitations/invitations.queries.js'
import { levelName } from '../../lib/levels.js'

/** The record of an invitation for --json. */
export const viewInvitation = (row: InvitationRow) => ({
  id: row.id,
  address: row.address,
  level: levelName(row.access_level),
  expires_at: row.expires_at,
  by: row.by_name,
  created_at: row.created_at
})
