// The identities of a user: with which accounts at providers the user can sign in.
import type { ActorUser, Origin } from '../../../access/actor.js'
import { config } from '../../../config.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Conflict, Invalid, NoSuch, NotFound } from '../../../errors.js'
import { NO_PASSWORD } from '../../../lib/password-hash.js'
import { doerOf } from '../../ground/activity/authors.js'
import { publish } from '../../ground/activity/events.js'
import { audit } from '../../ground/audit/audit.js'
import { endProviderSessions } from '../credentials/sessions.js'
import { stepsTo, takeSteps } from '../members/given-members.js'
import { deleteIdentities, insertIdentities, isAdminOnlyBy } from '../users/identities.js'
import { isNeededAdmin } from '../users/last-admin.js'
import { hasLocalPassword } from '../users/password-rules.js'
import { userProblems } from '../users/user-rules.js'
import { updateUser } from '../users/user-update.js'
import { keyStepsTo, takeKeySteps } from './given-keys.js'

export interface IdentityRow {
  readonly id: number
  readonly user_id: number
  readonly username: string
  readonly provider: string
  readonly extern_uid: string
}

const SELECT = `select i.id, i.user_id, u.username, i.provider, i.extern_uid from identities i join users u on u.id = i.user_id`

/** Returns the identities of a user, oldest first. A user has one at each provider at most. */
export const identitiesOf = (userId: number): Promise<IdentityRow[]> =>
  rows<IdentityRow>(`${SELECT} where i.user_id = ? order by i.id`, [userId])

/** A part of a list. */
const PART = 1000

/** Returns the next identities of all users, after the one with this id. */
export const identitiesAfter = (id: number): Promise<IdentityRow[]> =>
  rows<IdentityRow>(`${SELECT} where i.id > ? order by i.id limit ${PART}`, [id])

interface Identity {
  readonly provider: string
  readonly externUid: string
}

type Owner = Pick<ActorUser, 'id' | 'username'>

/**
 * Gives a user an identity. The caller has checked that it is theirs. Returns false when the user has it already. Throws Conflict when
 * another user has it, or when the user has another one at this provider; Invalid; NotFound.
 */
export async function linkIdentity(user: Owner, { provider, externUid }: Identity, origin: Origin): Promise<boolean> {
  const problems = userProblems({ provider, extern_uid: externUid })
  if (Object.keys(problems).length > 0) throw new Invalid(problems)
  try {
    return await transact(async () => {
      if (!(await lockRow('users', user.id))) throw new NotFound('User')
      const known = (await identitiesOf(user.id)).find(identity => identity.provider === provider)
      if (known?.extern_uid === externUid) return false
      if (known) throw new Conflict(`${user.username} is already connected with another account at ${provider}`)
      await insertIdentities([{ userId: user.id, provider, externUid }])
      await tell(user, { linked: true, provider, externUid }, origin)
      return true
    })
  } catch (error) {
    if (duplicateKey(error) === undefined) throw error
    throw new Conflict(`The account at ${provider} is already connected with another user`)
  }
}

/**
 * Takes the identity at a provider from a user, with the memberships, SSH keys and rights of an administrator that only the provider
 * gave, and the sessions that began there, except that of the cookie `kept`. Returns the id there. Throws NoSuch when the user has none.
 */
export function unlinkIdentity(user: Owner, provider: string, origin: Origin, kept?: string): Promise<string> {
  return transact(async () => {
    if (!(await lockRow('users', user.id))) throw new NotFound('User')
    const wasAdmin = await isAdminOnlyBy(user.id, provider)
    const [before] = await deleteIdentities(user.id, provider)
    if (before === undefined) throw new NoSuch('identity', `${user.username} at ${provider}`)
    if (wasAdmin && !(await isNeededAdmin(user.id))) await updateUser(user.id, { admin: false }, origin, 'provider')
    await takeSteps(user.id, provider, await stepsTo(user.id, provider, new Map()), origin)
    await takeKeySteps(user, provider, await keyStepsTo(user.id, provider, []), origin)
    await endProviderSessions({ provider, session: undefined, userId: user.id, ...(kept && { kept }) }, origin)
    await tell(user, { linked: false, provider, externUid: before }, origin)
    return before
  })
}

/** Does the same for the caller. Throws LastWay when the user could not sign in any more. */
export function disconnect(user: Owner, provider: string, origin: Origin, kept?: string): Promise<string> {
  return transact(async () => {
    // Of two at once, the second sees what the first has left.
    if (!(await lockRow('users', user.id))) throw new NotFound('User')
    if (!(await hasOtherWay(user, provider))) throw new LastWay('You could not sign in without it')
    return unlinkIdentity(user, provider, origin, kept)
  })
}

/** A user has no other way to sign in. */
export class LastWay extends Conflict {}

/** Returns whether a user could still sign in without the identity at a provider. */
async function hasOtherWay({ id, username }: Owner, provider: string): Promise<boolean> {
  const { oidc, ldap, two_factor } = config().identity
  const [found, known] = await Promise.all([
    row<{ password_hash: string; passkeys: number }>(
      `select u.password_hash, exists (select 1 from passkeys p where p.user_id = u.id) as passkeys from users u
       where u.id = ?`,
      [id]
    ),
    identitiesOf(id)
  ])
  if (found && found.password_hash !== NO_PASSWORD && hasLocalPassword(username)) return true
  if (found?.passkeys === 1 && two_factor.passkey_sign_in) return true
  const others = known.filter(identity => identity.provider !== provider)
  return others.some(other => Object.hasOwn(oidc, other.provider) || Object.hasOwn(ldap, other.provider))
}

/** Notes the change in the audit, and in a mail to the user: an account that somebody else connects is a way in. */
async function tell(
  { id, username }: Owner,
  { linked, provider, externUid }: Identity & { readonly linked: boolean },
  origin: Origin
): Promise<void> {
  const changes = { [`identity ${provider}`]: linked ? { after: externUid } : { before: externUid } }
  await audit(origin, { action: 'user.update', target: { type: 'user', id, name: username }, changes })
  await publish({ kind: 'identity.changed', userId: id, linked, provider, externUid, by: doerOf(origin, id) })
}
