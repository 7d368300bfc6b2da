// A provider ends sessions that it has begun (back-channel logout).

import { createHash } from 'node:crypto'
import type { Origin } from '../../../access/actor.js'
import { ProviderRefusal } from '../../../oidc/failures.js'
import { type LogoutToken, readLogoutToken } from '../../../oidc/logout-token.js'
import { requireProvider } from '../../../oidc/provider.js'
import { acceptForm } from '../../ground/forms/sent-forms.js'
import { endProviderSessions } from '../credentials/sessions.js'
import { findByIdentity } from './provision.js'

/**
 * Ends the sessions that a logout token names. Returns their number. Throws NotFound for an unknown provider, ProviderRefusal for a
 * token that is not valid or was used before, and ProviderAway.
 */
export async function endByProvider(name: string, token: string, address: string): Promise<number> {
  const provider = requireProvider(name)
  const asked = await readLogoutToken(provider, token)
  if (!(await acceptForm(idOf(name, asked))))
    throw new ProviderRefusal('The logout token was used before', 'its jti is known')
  const { subject, session } = asked
  const user = subject === undefined ? undefined : await findByIdentity(name, subject)
  // The person may have no account here, or no longer.
  if (subject !== undefined && !user) return 0
  const origin: Origin = { user: null, asker: null, name, actingAs: null, via: 'provider', address }
  return endProviderSessions({ provider: name, session, userId: user?.id }, origin)
}

const idOf = (name: string, { jti }: LogoutToken): Buffer =>
  createHash('sha256').update(`logout token of ${name}\0${jti}`).digest()
