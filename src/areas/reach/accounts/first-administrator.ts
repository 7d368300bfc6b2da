// The first administrator of a new appliance. A link that is signed with the key of the home makes the account, and only while there
// is no administrator. So strangers cannot be faster than the operator: only a terminal or a command on the machine shows the link.
import type { Origin } from '../../../access/actor.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Forbidden, Invalid } from '../../../errors.js'
import { checkChosenPassword, hasLocalPassword } from '../../people/users/password-rules.js'
import { checkUser } from '../../people/users/user-rules.js'
import { draftUser, insertUsers } from '../../people/users/users.js'
import { readLink, signedLink } from '../mail/links.js'
import type { SignUp } from './sign-ups.js'

export const FIRST_LINK_HOURS = 24
const SPENT =
  'This link does not work any more. `gitstead users first-link` prints a new one while there is no administrator'
const NOT_LOCAL = 'may not have a password of this appliance: identity.passwords.local_for does not name this user'

export const hasUsers = async (): Promise<boolean> => (await row('select 1 from users limit 1')) !== undefined

/** Not specified: people who signed up before the operator do not end the first run. */
const hasAdministrator = async (): Promise<boolean> =>
  (await row('select 1 from users where admin = 1 limit 1')) !== undefined

export interface FirstLink {
  readonly url: string
  readonly expires_at: string
}

/** Returns a link that makes the first administrator; null when there is one. */
export async function firstLink(): Promise<FirstLink | null> {
  if (await hasAdministrator()) return null
  const expires = new Date(Date.now() + FIRST_LINK_HOURS * 3_600_000)
  return { url: signedLink('first_administrator', {}, expires), expires_at: expires.toISOString() }
}

/** Throws Forbidden when the link has expired, was not made here, or when there is an administrator. */
export async function requireFirstLink(token: string): Promise<void> {
  if (readLink('first_administrator', token) === null || (await hasAdministrator())) throw new Forbidden(SPENT)
}

/** Creates the first administrator. Throws Forbidden for the link, Invalid for the values, and Conflict when one is taken. */
export async function makeFirstAdministrator(token: string, values: SignUp, client: string): Promise<void> {
  await requireFirstLink(token)
  checkUser({ ...values })
  if (!hasLocalPassword(values.username)) throw new Invalid('username', NOT_LOCAL)
  await checkChosenPassword(values.password, values)
  const draft = await draftUser({ ...values, admin: true })
  const { username } = values
  const origin: Origin = { user: null, asker: null, name: username, actingAs: null, via: 'link', address: client }
  await transact(async () => {
    // Of two forms at the same time, the second waits here and then finds an administrator.
    await lockRow('application_settings', 1)
    await requireFirstLink(token)
    await insertUsers([draft], origin)
  })
}
