// Accounts of people whom an identity provider names: at their first sign-in, or when a directory is read. An account belongs to
// the identity, which is the name of the provider and the id of the person there. An equal address or username is no proof.
import type { ActorUser, Origin } from '../../../access/actor.js'
import { ACTOR_USER, type ActorUserColumns, actorUserOf } from '../../../access/actor-user.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Conflict, Invalid, NotFound } from '../../../errors.js'
import { NO_PASSWORD } from '../../../lib/password-hash.js'
import { newToken } from '../../../secrets.js'
import { type GivenLevels, stepsTo, takeSteps } from '../members/given-members.js'
import { ADDRESS_TAKEN, dropUnconfirmed } from '../users/emails.js'
import {
  changedRights,
  KNOWN_RIGHTS,
  type KnownRights,
  noteRights,
  type SaidRights,
  saysOther
} from '../users/identities.js'
import { isNeededAdmin } from '../users/last-admin.js'
import { PENDING } from '../users/suspension.js'
import { userProblems } from '../users/user-rules.js'
import { updateUser } from '../users/user-update.js'
import { insertUsers } from '../users/users.js'
import { keyStepsTo, takeKeySteps } from './given-keys.js'
import { freeUsername } from './usernames.js'

/** A person as a provider describes them. */
export interface Person {
  /** The name of the provider in the configuration. */
  readonly provider: string
  /** The id of the person there. It never changes, and nobody else ever gets it. */
  readonly externUid: string
  readonly username: string
  readonly name: string
  readonly email: string
  /** Whether the provider has checked that the address belongs to the person. */
  readonly emailVerified: boolean
  /** Undefined: the provider does not decide it. */
  readonly admin?: boolean
  readonly external?: boolean
  /**
   * The path of a group -> the level of the person there. Memberships that this provider gave and that are no longer here are
   * taken away; those that people gave stay. Undefined: the provider does not decide memberships.
   */
  readonly groups?: GivenLevels
  /** SSH public keys. Those that this provider gave and that are no longer here are removed. Undefined: it does not decide them. */
  readonly sshKeys?: readonly string[]
}

/** The user of an identity. */
export interface IdentityUser extends ActorUser {
  readonly state: string
  readonly block_reason: string | null
  /** Whether the user has confirmed an address. Nobody may sign in before. */
  readonly confirmed: boolean
  /** The address that the provider gave last; null for one that has never done so. */
  readonly givenEmail: string | null
}

/** An account has the address of a person whose identity is not linked to it. */
export class AddressInUse extends Conflict {}

interface Row extends ActorUserColumns {
  readonly state: string
  readonly block_reason: string | null
  readonly confirmed: number
}

const USER = `${ACTOR_USER}, u.state, u.block_reason, u.confirmed_at is not null as confirmed`

/** Returns the user whom an identity belongs to. */
export async function findByIdentity(provider: string, externUid: string): Promise<IdentityUser | undefined> {
  const found = await row<Row & { given_email: string | null }>(
    `select ${USER}, i.email as given_email from identities i join users u on u.id = i.user_id where i.provider = ? and i.extern_uid = ?`,
    [provider, externUid]
  )
  return (
    found && {
      ...actorUserOf(found),
      state: found.state,
      block_reason: found.block_reason,
      confirmed: found.confirmed === 1,
      givenEmail: found.given_email
    }
  )
}

/**
 * Creates the account of a person, without a password. With `approval` it is blocked until an administrator approves it. The
 * username is made valid and free. Throws AddressInUse when an account has the address, and Invalid for a person without a usable address or id.
 */
export async function createPerson(
  person: Person,
  { approval }: { readonly approval: boolean },
  origin: Origin
): Promise<ActorUser> {
  const { provider, externUid, email, emailVerified, admin = false, external = false } = person
  const username = await freeUsername(person.username || email)
  const name = nameOf(person) ?? username
  const body = { username, name, email, password: '', admin, external, provider, extern_uid: externUid }
  const { password: _, ...checked } = body
  const problems = userProblems(checked)
  if (Object.keys(problems).length > 0) throw new Invalid(problems)
  const draft = {
    body: { ...body, confirm: emailVerified },
    passwordHash: NO_PASSWORD,
    privateToken: newToken(),
    rightsByProvider: true as const,
    ...(approval && { reason: PENDING })
  }
  try {
    return await transact(async () => {
      // A user who has entered this address for another account without confirming it does not own it.
      if (emailVerified) await dropUnconfirmed(email)
      const [id = 0] = await insertUsers([draft], origin)
      await noteRights(person, person)
      if (person.groups) await takeSteps(id, provider, await stepsTo(id, provider, person.groups), origin)
      if (person.sshKeys)
        await takeKeySteps({ id, username }, provider, await keyStepsTo(id, provider, person.sshKeys), origin)
      return { id, username, name, email, admin, external }
    })
  } catch (error) {
    if (!(error instanceof Conflict)) throw error
    throw error.message === ADDRESS_TAKEN ? new AddressInUse(error.message) : error
  }
}

/**
 * Gives an account the name, rights and memberships that a provider decides, with rights that others give (users/identities.ts). The last administrator keeps the rights, and so does
 * the last one with a password. Returns whether anything changed: without a change, it runs two statements, or three with keys. Throws NotFound.
 */
export async function updatePerson(userId: number, person: Person, origin: Origin): Promise<boolean> {
  const { provider, groups, sshKeys } = person
  const [before, steps, keySteps] = await Promise.all([
    findAccount(userId, provider),
    groups ? stepsTo(userId, provider, groups) : [],
    sshKeys ? keyStepsTo(userId, provider, sshKeys) : []
  ])
  if (!before) throw new NotFound('User')
  const isSame = Object.keys(changeOf(before, person)).length + steps.length + keySteps.length === 0
  if (isSame && !saysOther(before, person)) return false
  return transact(async () => {
    if (!(await lockRow('users', userId))) throw new NotFound('User')
    await noteRights(person, person)
    // Another provider may have said something since then.
    const change = changeOf((await findAccount(userId, provider)) ?? before, person)
    const keeps = change.admin === false && (await isNeededAdmin(userId))
    const { admin, ...others } = change
    const allowed = keeps || admin === undefined ? others : change
    if (Object.keys(allowed).length > 0) await updateUser(userId, allowed, origin, 'provider')
    await takeSteps(userId, provider, steps, origin)
    await takeKeySteps(actorUserOf(before), provider, keySteps, origin)
    return Object.keys(allowed).length + steps.length + keySteps.length > 0
  })
}

type Account = ActorUserColumns & KnownRights

const findAccount = (userId: number, provider: string): Promise<Account | undefined> =>
  row<Account>(
    `select ${ACTOR_USER}, ${KNOWN_RIGHTS} from users u left join identities i on i.user_id = u.id and i.provider = ?
     where u.id = ?`,
    [provider, userId]
  )

/** What changes in an account. */
function changeOf(user: Account, person: Person): SaidRights & { readonly name?: string } {
  const name = nameOf(person)
  return {
    ...(name !== undefined && name !== user.name && { name }),
    ...changedRights(user, person)
  }
}

/** The name on one line, and not too long; undefined when nothing of it remains. */
function nameOf({ name }: Person): string | undefined {
  const line = [...name.replace(/\p{Cc}+/gu, ' ').trim()].slice(0, 255).join('').trim()
  return line === '' || userProblems({ name: line }).name ? undefined : line
}
