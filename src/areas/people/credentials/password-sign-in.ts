// Signing in with a password. Every door that takes passwords asks here.
import { ACTOR_USER, actorUserOf } from '../../../access/actor-user.js'
import { config } from '../../../config.js'
import { row } from '../../../db/connect/sql.js'
import { Forbidden, Unavailable } from '../../../errors.js'
import { passwordFits } from '../../../lib/password-hash.js'
import { plug } from '../../../lib/plug.js'
import { counted } from '../../ground/audit/sign-in-counts.js'
import { applicationSettings } from '../../ground/settings/settings.queries.js'
import { hasLocalPassword, LOCAL_OFF } from '../users/password-rules.js'
import { isSuspended, letIn } from '../users/suspension.js'
import { byPassword, type SignIn } from './credentials.js'
import { noteUseOf } from './last-use.js'
import { accountOfNobody, attempt } from './login-throttle.js'
import { type DutyColumns, dutyColumns, readDuty, refusePasswordWithoutFactor } from './second-factor/duty.js'
import { noteSignIn } from './sign-in-addresses.js'

const PASSWORDS_OFF = 'Signing in with a password is switched off: use a personal access token'
export const UNCONFIRMED = 'Confirm your email address first, by the link in the mail that was sent to it'

/** Where the password was given: on the sign-in page, to `POST /session`, to git over HTTP, or to the password grant of OAuth. */
type Door = 'page' | 'api' | 'git' | 'oauth'

interface Found extends DutyColumns {
  readonly password_hash: string
  readonly state: string
  readonly block_reason: string | null
  readonly confirmed: number
}

/** What somebody entered, and where. */
export interface GivenPassword {
  readonly login: string
  readonly password: string
  readonly door: Door
}

/** Directories that know passwords too. Each function returns quickly when they are away, and throws Unavailable. */
export interface PasswordSource {
  /** Returns the directory that decides about the password of a user; null when the user's own password does. */
  directoryOf(userId: number): Promise<string | null>
  /**
   * Returns the sign-in of the person whose password a directory accepts; null when none does. `account` is the user with this
   * login, and the only directory to ask for this user.
   */
  signIn(
    given: GivenPassword,
    account: { readonly userId: number; readonly directory: string | null } | null,
    address: string
  ): Promise<SignIn | null>
  isPasswordOf(userId: number, directory: string, password: string): Promise<boolean>
  /** Returns the identity of the person in a directory whose password it is. */
  identityOf(directory: string, given: LoginAndPassword): Promise<ProvenIdentity | null>
}

type LoginAndPassword = Pick<GivenPassword, 'login' | 'password'>

interface ProvenIdentity {
  readonly provider: string
  readonly externUid: string
}

export const passwordSource = plug<PasswordSource>('passwordSource')

/** Returns the directories, unless the configuration has none. */
const directories = async (): Promise<PasswordSource | null> =>
  Object.keys(config().identity.ldap).length === 0 ? null : passwordSource()

/**
 * Returns the sign-in of the active user with this username or mail address and this password, or of a person whose password a
 * directory accepts; null without a match. The sign-in page must then ask for the second factor; other doors cannot, and this throws
 * SecondFactorNeeded there. Throws TooManyRequests after too many wrong guesses (`attempt`), Forbidden when the address is not
 * confirmed, signin_enabled is off, or the configuration switches passwords of this appliance off, and Unavailable when a directory
 * that may know the login is away. Not specified: administrators may still sign in with signin_enabled off, because nobody else
 * could turn it on again.
 */
export const signInByPassword = (login: string, password: string, place: Place): Promise<SignIn | null> =>
  counted(place.door, () => signInFrom(login, password, place))

interface Place {
  readonly address: string
  readonly door: Door
}

async function signInFrom(login: string, password: string, { address, door }: Place): Promise<SignIn | null> {
  const duty = dutyColumns()
  const found = await row<Found>(
    `select ${ACTOR_USER}, ${duty.sql}, u.password_hash, u.state, u.block_reason, u.confirmed_at is not null as confirmed from users u
     where u.username_key = lower(?) or u.email_key = lower(?)`,
    [...duty.values, login, login]
  )
  const asked = await ask({ login, password, door }, found, address)
  if (!asked) return null
  const { user, provider } = asked
  if (provider === null) {
    // This check comes last, so that the answer to a wrong password does not reveal who is an administrator.
    if (!user.admin && !(await applicationSettings()).signin_enabled) throw new Forbidden(PASSWORDS_OFF)
    if (!hasLocalPassword(user.username)) throw new Forbidden(LOCAL_OFF)
    if (!found?.confirmed) throw new Forbidden(UNCONFIRMED)
  }
  // A directory may know a user by a login that is not the username.
  const person = found?.id === user.id ? found : await readDuty(user.id)
  if (person && door !== 'page') await refusePasswordWithoutFactor(person)
  if (provider === null && found) await letIn(found, address)
  // The sign-in page still asks for the second factor, and notes the sign-in then.
  if (!person?.two_factor_at) await noteSignIn(user.id, address)
  noteUseOf(user.id)
  return asked
}

/** The password of an account with a directory is never compared here: only the directory decides. */
async function ask(given: GivenPassword, found: Found | undefined, address: string): Promise<SignIn | null> {
  const source = await directories()
  const directory = source && found ? await source.directoryOf(found.id) : null
  const account = found ? { userId: found.id, directory } : null
  const askSource = (of: PasswordSource) => counted('ldap', () => of.signIn(given, account, address))
  let away: Unavailable | undefined
  const signIn = await attempt(found ? `user ${found.id}` : accountOfNobody(given.login), address, async () => {
    if (source && directory !== null) return askSource(source)
    const fits = await passwordFits(found?.password_hash, given.password)
    if (found && fits && (found.state === 'active' || isSuspended(found))) return byPassword(actorUserOf(found))
    if (!source) return null
    return askSource(source).catch(error => {
      // The local password was wrong, and counts as a guess: otherwise nobody would count them while a directory is away.
      if (!(error instanceof Unavailable)) throw error
      away = error
      return null
    })
  })
  if (away) throw away
  return signIn
}

/** Returns the directory that decides about the password of a user; null when the user's own password does. */
export async function directoryOf(userId: number): Promise<string | null> {
  return (await directories())?.directoryOf(userId) ?? null
}

/**
 * Returns whether a signed-in user knows the password of the account. Wrong ones count as guesses. Throws TooManyRequests after too
 * many of them, and Unavailable when the directory of the user is away.
 */
export async function isPasswordOf(userId: number, password: string, address: string): Promise<boolean> {
  const found = await row<{ password_hash: string }>('select password_hash from users where id = ?', [userId])
  const source = await directories()
  const directory = source && (await source.directoryOf(userId))
  const right = await attempt(`user ${userId}`, address, async () => {
    if (source && directory !== null) return (await source.isPasswordOf(userId, directory, password)) || null
    return (await passwordFits(found?.password_hash, password)) ? true : null
  })
  return right === true
}

/**
 * Returns the identity of a person who proves it by the password in a directory, for a signed-in user who connects it. Throws
 * TooManyRequests after too many wrong passwords, and Unavailable when the directory is away.
 */
export const identityByPassword = (
  directory: string,
  given: LoginAndPassword,
  address: string
): Promise<ProvenIdentity | null> =>
  attempt(accountOfNobody(given.login), address, async () => (await passwordSource()).identityOf(directory, given))
