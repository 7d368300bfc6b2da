// The password of a directory, on the sign-in page, in POST /session, for git over HTTP and in the password grant of OAuth.
import { type ActorUser, nobody, type Origin, originOf } from '../../../../access/actor.js'
import { Conflict, Forbidden, Invalid } from '../../../../errors.js'
import { isPasswordOfEntry, withDirectory } from '../../../../ldap/connection.js'
import { type Directory, labelOf } from '../../../../ldap/directory.js'
import { entriesOf, findEntries } from '../../../../ldap/people.js'
import { type DirectoryPerson, personOf } from '../../../../ldap/person.js'
import { log } from '../../../../log.js'
import type { SignIn } from '../../credentials/credentials.js'
import { type GivenPassword, type PasswordSource, UNCONFIRMED } from '../../credentials/password-sign-in.js'
import { confirmPrimary } from '../../users/emails.js'
import { deciderOf, decidesPasswords } from '../../users/identities.js'
import { isSuspended, letIn, mayEnter } from '../../users/suspension.js'
import { unblockByDirectory } from '../../users/user-state.js'
import { bringUpToDate } from '../bring-up-to-date.js'
import { AddressInUse, createPerson, findByIdentity, type IdentityUser, type Person } from '../provision.js'
import { DirectoryAway, whileThere } from './breaker.js'
import { directories, directoryNamed, lookUpGrants, personHere } from './directories.js'
import { recall, remember } from './proven-passwords.js'

/** The directories that decide about the passwords of their people. */
const deciding = () =>
  directories()
    .map(({ name }) => name)
    .filter(decidesPasswords)

export const directoryPasswords: PasswordSource = {
  directoryOf: async userId => (await deciderOf(userId, deciding()))?.provider ?? null,

  signIn: async (given, account, address) => {
    // A directory takes an empty password for an anonymous bind, which succeeds.
    if (given.login === '' || given.password === '') return null
    const known = given.door === 'git' ? recall(given.login, given.password) : undefined
    if (known === false) return null
    if (known) {
      const user = await findByIdentity(known.directory, known.externUid)
      if (user?.state === 'active') return signedIn(user, known.directory)
    }
    return ask(given, account, address)
  },

  isPasswordOf: async (userId, name, password) => {
    const directory = directoryNamed(name)
    const decider = await deciderOf(userId, [name])
    if (!directory || !decider || password === '') return false
    return whileThere(directory, async () => {
      const [person] = await lookUp(directory, null, decider.externUid)
      return person !== undefined && isPasswordOfEntry(directory, person.dn, password)
    })
  },

  identityOf: async (name, given) => {
    const directory = directoryNamed(name)
    if (!directory || given.login === '' || given.password === '') return null
    const person = await whileThere(directory, () => personWith(directory, given, null))
    return person && { provider: name, externUid: person.uid }
  }
}

const signedIn = (user: ActorUser, provider: string): SignIn => ({ user, provider, factor: null })

/** Asks the directories in order. One that is away only matters when no other accepts the password. */
async function ask(
  given: GivenPassword,
  account: Parameters<PasswordSource['signIn']>[1],
  address: string
): Promise<SignIn | null> {
  const only = account?.directory ?? null
  const asked = directories().filter(({ name }) => only === null || name === only)
  const externUid = account && only !== null ? ((await deciderOf(account.userId, [only]))?.externUid ?? null) : null
  let away: DirectoryAway | undefined
  for (const directory of asked) {
    try {
      const person = await whileThere(directory, () => personWith(directory, given, externUid))
      if (!person) continue
      const user = await accountOf(directory, person, address)
      if (!user || !mayEnter(user)) return null
      if (!user.confirmed) throw new Forbidden(UNCONFIRMED)
      remember(given.login, given.password, { directory: directory.name, externUid: person.uid })
      return signedIn(user, directory.name)
    } catch (error) {
      if (!(error instanceof DirectoryAway)) throw error
      away ??= error
    }
  }
  if (away) throw away
  remember(given.login, given.password, false)
  return null
}

/** Returns the person whose password this is. The search uses the service account; the password only its own connection. */
async function personWith(
  directory: Directory,
  { login, password }: Pick<GivenPassword, 'login' | 'password'>,
  externUid: string | null
): Promise<DirectoryPerson | null> {
  for (const person of await lookUp(directory, login, externUid)) {
    if (await isPasswordOfEntry(directory, person.dn, password)) return person.disabled ? null : person
  }
  return null
}

/**
 * Returns the person of an identity, and the person whose username or address the login is: they differ when the account has
 * another name here. More than one entry with a login is a fault of the directory, and then nobody signs in with it.
 */
function lookUp(directory: Directory, login: string | null, externUid: string | null): Promise<DirectoryPerson[]> {
  return withDirectory(directory, async connection => {
    const same = externUid === null ? [] : await entriesOf(connection, directory, [externUid])
    const named = login === null ? [] : await findEntries(connection, directory, login)
    for (const found of [same, named]) {
      if (found.length < 2) continue
      const entries = found.map(({ dn }) => dn)
      log().warn({ directory: directory.name, entries }, 'a directory has several entries for one person')
      found.length = 0
    }
    const people = [...new Map([...same, ...named].map(entry => [entry.dn, entry])).values()]
    return people.flatMap(entry => {
      const person = personOf(entry, directory)
      if (typeof person !== 'string') return [person]
      log().warn({ directory: directory.name, entry: entry.dn }, `an entry is no person: ${person}`)
      return []
    })
  })
}

/**
 * Returns the account of a person who has proven the password, with what the directory says about it now. The first sign-in
 * creates it. Throws Forbidden when there is none, with what the person can do.
 */
async function accountOf(
  directory: Directory,
  person: DirectoryPerson,
  address: string
): Promise<IdentityUser | undefined> {
  const { name: provider } = directory
  const grants = await whileThere(directory, () => lookUpGrants(directory, person))
  const here = personHere(directory, person, grants)
  const origin = originOfDirectory(directory, address)
  const known = await findByIdentity(provider, person.uid)
  if (!known) {
    if (directory.create === 'never') throw new Forbidden(NO_ACCOUNT)
    await createPerson(here, { approval: false }, origin).catch(async error => {
      // Of two first sign-ins at once, the other one has made the account, and so has taken the address.
      if (!(error instanceof Conflict && (await findByIdentity(provider, person.uid)))) explain(directory, error)
    })
  } else if (known.state !== 'blocked' || isSuspended(known)) {
    if (isSuspended(known)) await letIn(known, address)
    if (known.state === 'ldap_blocked') await unblockByDirectory(known.id, provider, origin)
    const { problem } = await bringUpToDate(known, here, origin)
    if (problem !== undefined) log().warn({ directory: provider }, problem)
    else if (!known.confirmed && vouchesFor(here, known.email)) await confirmPrimary(known.id)
  }
  return findByIdentity(provider, person.uid)
}

const vouchesFor = ({ email, emailVerified }: Person, address: string): boolean =>
  emailVerified && email.toLowerCase() === address.toLowerCase()

const NO_ACCOUNT = 'You have no account here yet: ask an administrator for one'

function explain(directory: Directory, error: unknown): never {
  const name = labelOf(directory)
  if (error instanceof AddressInUse) {
    throw new Forbidden(
      `An account with your address exists, and is not connected with ${name}: sign in to it and connect it on the page Connected accounts of your profile, or ask an administrator`
    )
  }
  if (error instanceof Invalid) {
    throw new Forbidden(`The entry in ${name} makes no account (${error.message}): ask the administrator of ${name}`)
  }
  throw error
}

/** The origin of changes that a directory makes when somebody signs in. */
const originOfDirectory = ({ name }: Directory, address: string): Origin => ({
  ...originOf({ ...nobody, by: 'provider' }, address),
  name
})
