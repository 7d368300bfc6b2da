import { endOf, stateOf } from '../credentials/tokens.state.js'
import type { ScimToken } from './scim-tokens.js'

/** Returns the record of a token, without the token itself. */
export const viewScimToken = (token: ScimToken) => ({
  id: token.id,
  name: token.name,
  state: stateOf(token),
  created_at: token.created_at,
  last_used_at: token.last_used_at,
  expires_at: endOf(token)
})
