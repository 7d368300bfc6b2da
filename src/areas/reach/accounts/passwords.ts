// People who cannot sign in set a new password with a link in a mail, which works once and for six hours.
import type { Origin } from '../../../access/actor.js'
import { row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Forbidden, Invalid } from '../../../errors.js'
import { hashPassword } from '../../../lib/password-hash.js'
import { publish } from '../../ground/activity/events.js'
import { audit } from '../../ground/audit/audit.js'
import { isPasswordOf } from '../../people/credentials/credentials.js'
import { confirmPrimary } from '../../people/users/emails.js'
import { checkUser } from '../../people/users/user-rules.js'
import { setPassword } from '../../people/users/user-update.js'
import { readLink } from '../mail/links.js'
import { proofOf, SPENT } from './link-proofs.js'

export const RESET_HOURS = 6

/** A user whose password can be reset by mail to an address. `emailId` is 0 for the primary address. */
export interface Resettable {
  readonly user_id: number
  readonly username: string
  readonly name: string
  readonly address: string
  readonly password_hash: string
  readonly emailId: number
  readonly confirmed_at: Date | null
}

const COLUMNS = 'u.id as user_id, u.username, u.name, u.password_hash, u.confirmed_at'

/**
 * Not specified: works for the primary address, and for a further address that is confirmed. A link to the primary address also
 * confirms it: an administrator has chosen it.
 */
export async function resettable(userId: number, emailId: number, lock = ''): Promise<Resettable | undefined> {
  const found =
    emailId === 0
      ? await row<Resettable>(
          `select ${COLUMNS}, u.email as address, 0 as emailId from users u where u.id = ? and u.state = 'active' ${lock}`,
          [userId]
        )
      : await row<Resettable>(
          `select ${COLUMNS}, e.email as address, e.id as emailId from emails e join users u on u.id = e.user_id
           where u.id = ? and e.id = ? and e.confirmed_at is not null and u.state = 'active' ${lock}`,
          [userId, emailId]
        )
  return found
}

/** Finds the user by an address that somebody entered; undefined when no user has it. */
export async function resettableByAddress(address: string): Promise<Resettable | undefined> {
  const primary = await row<{ id: number }>('select id from users where email_key = lower(?)', [address])
  if (primary) return resettable(primary.id, 0)
  const further = await row<{ id: number; user_id: number }>(
    'select id, user_id from emails where email_key = lower(?)',
    [address]
  )
  return further && resettable(further.user_id, further.id)
}

/** A proof that changes with the password and with the address. */
export const resetProof = ({ password_hash, address }: Resettable): string =>
  proofOf(password_hash, address.toLowerCase())

/** Returns the user whose password a link resets. Throws Forbidden when the link does not work any more. */
export async function resetOfLink(token: string, lock = ''): Promise<Resettable> {
  const values = readLink('password', token)
  const found = values && (await resettable(values.userId, values.emailId, lock))
  if (!found || resetProof(found) !== values.proof) throw new Forbidden(SPENT)
  return found
}

/**
 * Sets the password of the user of a link and ends the user's sessions. Throws Forbidden when the link does not work any more,
 * and Invalid for the password.
 */
export async function resetPassword(token: string, password: string, client: string): Promise<void> {
  const { user_id: id, username, emailId } = await resetOfLink(token)
  checkUser({ password })
  const passwordHash = await hashPassword(password)
  const origin: Origin = { user: null, asker: null, name: username, actingAs: null, via: 'link', address: client }
  await transact(async () => {
    // Of two concurrent calls, the second waits here and then finds that the link does not work any more.
    await resetOfLink(token, 'for update')
    await setPassword(id, passwordHash, origin)
    if (emailId === 0) await confirmPrimary(id)
  })
}

/**
 * Changes the password of a user who knows the current one, and ends all sessions of the user. Throws Invalid, and TooManyRequests
 * after too many wrong passwords.
 */
export async function changePassword(
  user: { readonly id: number },
  { current, password }: { readonly current: string; readonly password: string },
  origin: Origin
): Promise<void> {
  // The new one first: it costs nothing to check.
  checkUser({ password })
  if (!(await isPasswordOf(user.id, current, origin.address ?? ''))) throw new Invalid('current_password', 'is wrong')
  const passwordHash = await hashPassword(password)
  await transact(() => setPassword(user.id, passwordHash, origin))
}

/** Sends a user a link for a new password. Throws Invalid for a user who is blocked or deleted. */
export async function offerPassword(
  user: { id: number; username: string; state: string },
  origin: Origin
): Promise<void> {
  if (user.state !== 'active') throw new Invalid('user', 'is blocked: unblock the user first')
  await transact(async () => {
    await publish({ kind: 'password.offered', userId: user.id })
    await audit(origin, {
      action: 'user.password_link',
      target: { type: 'user', id: user.id, name: user.username }
    })
  })
}
