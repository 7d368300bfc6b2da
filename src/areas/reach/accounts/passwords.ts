// People who cannot sign in set a new password with a link in a mail, which works once and for six hours.
import type { ActorUser, Origin } from '../../../access/actor.js'
import { row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Forbidden, Invalid } from '../../../errors.js'
import { hashPassword } from '../../../lib/password-hash.js'
import { publish } from '../../ground/activity/events.js'
import { audit } from '../../ground/audit/audit.js'
import { directoryOf, isPasswordOf } from '../../people/credentials/password-sign-in.js'
import { confirmPrimary } from '../../people/users/emails.js'
import { checkChosenPassword, hasLocalPassword, LOCAL_OFF } from '../../people/users/password-rules.js'
import { DORMANT } from '../../people/users/suspension.js'
import { setPassword } from '../../people/users/user-update.js'
import { readLink } from '../mail/links.js'
import { proofOf, SPENT } from './link-proofs.js'

export const RESET_HOURS = 6
const ELSEWHERE = 'Your password is that of your organization: change it there'

/** A user whose password can be reset by a link to the primary address. */
export interface Resettable {
  readonly user_id: number
  readonly username: string
  readonly name: string
  readonly address: string
  readonly password_hash: string
  readonly confirmed_at: Date | null
}

// The owner of a dormant account may have forgotten the password, and then signs in.
const RESETS = `(u.state = 'active' or u.block_reason = '${DORMANT}')`

/**
 * Not specified: which addresses get the link. Only the primary one does, which only administrators change: somebody with a stolen
 * token or session can add a further address and confirm it. The link also confirms the primary address. Nobody resets a password
 * that the configuration forbids.
 */
export async function resettable(userId: number, lock = ''): Promise<Resettable | undefined> {
  const found = await row<Resettable>(
    `select u.id as user_id, u.username, u.name, u.password_hash, u.confirmed_at, u.email as address from users u
     where u.id = ? and ${RESETS} ${lock}`,
    [userId]
  )
  return found && hasLocalPassword(found.username) ? found : undefined
}

/**
 * Finds the user by an address that somebody entered, the primary one or a confirmed further one; undefined when no user has it, and
 * when a directory decides about the password: an administrator with a password of this appliance no longer needs the directory, so a mailbox must not be enough to get one.
 */
export async function resettableByAddress(address: string): Promise<Resettable | undefined> {
  const found = await holderOf(address)
  return found && (await directoryOf(found.user_id)) === null ? found : undefined
}

async function holderOf(address: string): Promise<Resettable | undefined> {
  const found = await row<{ id: number }>(
    `select id from users where email_key = lower(?)
     union all select user_id from emails where email_key = lower(?) and confirmed_at is not null`,
    [address, address]
  )
  return found && resettable(found.id)
}

/** A proof that changes with the password and with the address. */
export const resetProof = ({ password_hash, address }: Resettable): string =>
  proofOf(password_hash, address.toLowerCase())

/** Returns the user whose password a link resets. Throws Forbidden when the link does not work any more. */
export async function resetOfLink(token: string, lock = ''): Promise<Resettable> {
  const values = readLink('password', token)
  // Earlier versions sent links to further addresses, too.
  const found = values?.emailId === 0 ? await resettable(values.userId, lock) : undefined
  if (!found || resetProof(found) !== values?.proof) throw new Forbidden(SPENT)
  return found
}

/**
 * Sets the password of the user of a link and ends the user's sessions. Throws Forbidden when the link does not work any more,
 * and Invalid for the password.
 */
export async function resetPassword(token: string, password: string, client: string): Promise<void> {
  const { user_id: id, username, name, address } = await resetOfLink(token)
  await checkChosenPassword(password, { username, name, email: address })
  const passwordHash = await hashPassword(password)
  const origin: Origin = { user: null, asker: null, name: username, actingAs: null, via: 'link', address: client }
  await transact(async () => {
    // Of two concurrent calls, the second waits here and then finds that the link does not work any more.
    await resetOfLink(token, 'for update')
    await setPassword(id, passwordHash, origin)
    await confirmPrimary(id)
  })
}

/**
 * Changes the password of a user who knows the current one, and ends the sessions of the user, except for the one of the cookie
 * `kept`. Throws Invalid, Forbidden for a user whose password is elsewhere, and TooManyRequests after too many wrong passwords.
 */
export async function changePassword(
  user: ActorUser,
  { current, password, kept }: { readonly current: string; readonly password: string; readonly kept?: string },
  origin: Origin
): Promise<void> {
  if (!hasLocalPassword(user.username)) throw new Forbidden(LOCAL_OFF)
  if ((await directoryOf(user.id)) !== null) throw new Forbidden(ELSEWHERE)
  if (!(await isPasswordOf(user.id, current, origin.address ?? ''))) throw new Invalid('current_password', 'is wrong')
  await checkChosenPassword(password, user)
  const passwordHash = await hashPassword(password)
  await transact(() => setPassword(user.id, passwordHash, origin, kept))
}

/** Sends a user a link for a new password. Throws Invalid for a user who is blocked or deleted, or who may not use a password. */
export async function offerPassword(
  user: { id: number; username: string; state: string },
  origin: Origin
): Promise<void> {
  if (user.state !== 'active') throw new Invalid('user', 'is blocked: unblock the user first')
  if (!hasLocalPassword(user.username)) throw new Invalid('user', 'may not sign in with a password of this appliance')
  await transact(async () => {
    await publish({ kind: 'password.offered', userId: user.id })
    await audit(origin, {
      action: 'user.password_link',
      target: { type: 'user', id: user.id, name: user.username }
    })
  })
}
