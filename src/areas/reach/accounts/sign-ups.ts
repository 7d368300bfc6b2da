// People create accounts for themselves. A sign-up becomes a user only when the person opens the link in the mail to the address.
// So nobody can take a name or an address with a form only, and the form returns the same whether an account has the address
// or not.
import type { Origin } from '../../../access/actor.js'
import { config } from '../../../config.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Forbidden, Invalid, Taken, Unavailable } from '../../../errors.js'
import { hashPassword, passwordFits } from '../../../lib/password-hash.js'
import { removeRows, type Task } from '../../../queue/task.js'
import { newToken } from '../../../secrets.js'
import { publish } from '../../ground/activity/events.js'
import { requireUnreserved } from '../../ground/paths/redirects.js'
import { applicationSettings } from '../../ground/settings/settings.queries.js'
import { attempt } from '../../people/credentials/login-throttle.js'
import { dropUnconfirmed } from '../../people/users/emails.js'
import { checkChosenPassword } from '../../people/users/password-rules.js'
import { PENDING } from '../../people/users/suspension.js'
import { checkUser } from '../../people/users/user-rules.js'
import { insertUsers } from '../../people/users/users.js'
import { readLink } from '../mail/links.js'
import { domainProblem } from './domains.js'
import { proofOf, SPENT } from './link-proofs.js'
import { limitSignUps, mayMail } from './rate-limits.js'

/** How long a sign-up keeps its username, and how long its link works. */
export const SIGN_UP_HOURS = 24
/** The limit of pending sign-ups. Each takes some 500 bytes and a username. */
const MOST = 10_000
const FULL = `${MOST} people have signed up and not confirmed it: try again later, or ask an administrator for an account`
const CLOSED = 'Signing up is switched off: ask an administrator for an account'

export interface SignUp {
  readonly username: string
  readonly name: string
  readonly email: string
  readonly password: string
}

export interface SignUpRow {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly password_hash: string
  readonly created_at: Date
}

const oldest = () => new Date(Date.now() - SIGN_UP_HOURS * 3_600_000)

/**
 * Stores a sign-up and sends its mail. Throws Forbidden while signing up is switched off, TooManyRequests, Unavailable when too
 * many sign-ups are pending, and Invalid for values that a user cannot have, a domain that may not sign up, or a taken username.
 */
export async function signUp({ username, name, email, password }: SignUp, client: string): Promise<void> {
  const settings = await applicationSettings()
  if (!(await maySignUp())) throw new Forbidden(CLOSED)
  await limitSignUps(client)
  checkUser({ username, name, email, password })
  const problem = domainProblem(email, settings)
  if (problem) throw new Invalid('email', problem)
  await checkChosenPassword(password, { username, name, email })
  await requireRoom()
  const passwordHash = await hashPassword(password)
  await transact(async () => {
    const id = await insert({ username, name, email, passwordHash })
    // A fourth mail within an hour would only annoy the owner of the address. Requests for taken names do not count.
    if (await mayMail(email)) await publish({ kind: 'sign_up.asked', signUpId: id })
  })
}

/** A sign-up has a password of this appliance, which must be allowed. */
export const maySignUp = async (): Promise<boolean> =>
  config().identity.passwords.local && (await applicationSettings()).signup_enabled

/** Whether an administrator must approve the accounts that people create for themselves. */
export const needsApproval = (): boolean => config().identity.accounts.approval

async function requireRoom(): Promise<void> {
  const found = await row<{ total: number }>('select count(*) as total from sign_ups where created_at >= ?', [oldest()])
  if (Number(found?.total ?? 0) >= MOST) throw new Unavailable(FULL, 3600)
}

async function insert(values: Omit<SignUp, 'password'> & { passwordHash: string }): Promise<number> {
  const { username, name, email, passwordHash } = values
  await execute('delete from sign_ups where username_key = lower(?) and (created_at < ? or email = ?)', [
    username,
    oldest(),
    email
  ])
  if (await row('select 1 from namespaces where path_key = lower(?)', [username])) throw new Taken('username')
  await requireUnreserved(username, 'username')
  try {
    const { insertId } = await execute(
      'insert into sign_ups (username, name, email, password_hash, created_at) values (?, ?, ?, ?, ?)',
      [username, name, email, passwordHash, new Date()]
    )
    return insertId
  } catch (error) {
    throw duplicateKey(error) ? new Taken('username') : error
  }
}

const SELECT = 'select id, username, name, email, password_hash, created_at from sign_ups'

/** A sign-up that can still be confirmed. */
export const findSignUp = (id: number): Promise<SignUpRow | undefined> =>
  row<SignUpRow>(`${SELECT} where id = ? and created_at >= ?`, [id, oldest()])

/** The newest sign-up with this address. */
export const newestSignUp = (address: string): Promise<SignUpRow | undefined> =>
  row<SignUpRow>(`${SELECT} where lower(email) = lower(?) and created_at >= ? order by id desc limit 1`, [
    address,
    oldest()
  ])

export const endOfSignUp = ({ created_at }: SignUpRow): Date =>
  new Date(created_at.getTime() + SIGN_UP_HOURS * 3_600_000)

/** Returns the sign-up of a link. Throws Forbidden when the link does not work any more. */
export async function signUpOfLink(token: string): Promise<SignUpRow> {
  const values = readLink('sign_up', token)
  const found = values && (await findSignUp(values.id))
  if (!found || proofOf(found.password_hash) !== values.proof) throw new Forbidden(SPENT)
  return found
}

/**
 * Creates the user of a sign-up, with the link in the mail and the password from the form. Without the password, somebody who
 * signed up with another person's address would share the account with that person. Returns false when the password is wrong.
 * Throws Forbidden when the link does not work any more or signing up was switched off; TooManyRequests; Conflict when somebody
 * has taken the address or the name since.
 */
export async function confirmSignUp(token: string, password: string, client: string): Promise<boolean> {
  const found = await signUpOfLink(token)
  if (!(await maySignUp())) throw new Forbidden(CLOSED)
  const { id, username, name, email, password_hash: passwordHash } = found
  const right = await attempt(`sign-up ${id}`, client, async () =>
    (await passwordFits(passwordHash, password)) ? found : null
  )
  if (!right) return false
  await transact(async () => {
    // Of two concurrent calls, only one finds the row.
    const { affectedRows } = await execute('delete from sign_ups where id = ?', [id])
    if (affectedRows === 0) throw new Forbidden(SPENT)
    // Not specified: people get no mail about their own sign-up. System hooks get the new user now.
    const draft = {
      body: { username, name, email, password: '' },
      passwordHash,
      privateToken: newToken(),
      ...(needsApproval() && { reason: PENDING })
    }
    // A user who has entered this address for another account without confirming it does not own it.
    await dropUnconfirmed(email)
    await insertUsers([draft], originOf(username, client))
  })
  return true
}

const originOf = (username: string, client: string): Origin => ({
  user: null,
  asker: null,
  name: username,
  actingAs: null,
  via: 'link',
  address: client
})

export const oldSignUps: Task = {
  name: 'old_sign_ups',
  schedule: '37 * * * *',
  about: `removes sign-ups that nobody has confirmed within ${SIGN_UP_HOURS} hours`,
  run: context => removeRows(context, 'sign_ups', 'created_at < ?', [oldest()])
}
