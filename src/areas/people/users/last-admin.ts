// Without an active administrator, only the owner of the machine could administer the appliance.
import { lockRow } from '../../../db/connect/lock-row.js'
import { marks, rows } from '../../../db/connect/sql.js'
import { Forbidden, Misconfigured } from '../../../errors.js'
import { NO_PASSWORD } from '../../../lib/password-hash.js'
import { hasLocalPassword } from './password-rules.js'

/**
 * Throws Forbidden when this user is the last active administrator, or the last one who can sign in with a password of this
 * appliance: the others could not while their provider is away. Call it in the transaction of the change, so that two concurrent
 * changes wait for each other. Not specified: the requirement does not protect the last administrator.
 */
export async function requireOtherAdmin(
  userId: number,
  change: 'deleted' | 'blocked' | 'demoted' | 'renamed'
): Promise<void> {
  const held = await lockAdmins()
  if (change !== 'renamed' && isLastOf(held, userId)) {
    throw new Forbidden(`the last active administrator cannot be ${change}`)
  }
  if (isLastOf(held.filter(hasPassword), userId)) {
    throw new Forbidden(`the last administrator who can sign in without a provider cannot be ${change}`)
  }
}

/**
 * Returns whether a provider must leave the rights of this user, because no other active administrator could sign in without a
 * provider, or at all. Call it in the transaction of the change: it locks the administrators, as `requireOtherAdmin` does.
 */
export async function isNeededAdmin(userId: number): Promise<boolean> {
  const held = await lockAdmins()
  return isLastOf(held, userId) || isLastOf(held.filter(hasPassword), userId)
}

/** Returns whether this user is the last active administrator. It takes no lock, so use it only to show the result. */
export async function isLastAdmin(userId: number): Promise<boolean> {
  const ids = await activeAdmins()
  return ids.length === 1 && ids[0] === userId
}

/**
 * Throws Misconfigured when there are administrators, and none of them may sign in with a password of this appliance: nobody could
 * administer it while the provider is away.
 */
export async function requireLocalAdmin(): Promise<void> {
  const admins = await adminsAmong(await activeAdmins())
  if (admins.length === 0 || admins.some(hasPassword)) return
  throw new Misconfigured(
    'configuration: identity.passwords.local is false, and identity.passwords.local_for names no active administrator with a password'
  )
}

interface Admin {
  readonly id: number
  readonly username: string
  readonly password_hash: string
}

const isLastOf = (admins: readonly Admin[], userId: number): boolean => admins.length === 1 && admins[0]?.id === userId

const hasPassword = ({ username, password_hash }: Admin): boolean =>
  password_hash !== NO_PASSWORD && hasLocalPassword(username)

/** Locks the active administrators by their ids: a search that locks would wait for every user whom somebody changes. */
async function lockAdmins(): Promise<Admin[]> {
  const ids = await activeAdmins()
  for (const id of ids.sort((a, b) => a - b)) await lockRow('users', id)
  return adminsAmong(ids)
}

const adminsAmong = (ids: readonly number[]): Promise<Admin[]> =>
  rows<Admin>(
    `select id, username, password_hash from users where id in (${marks(ids)}) and admin = 1 and state = 'active'`,
    ids
  )

async function activeAdmins(): Promise<number[]> {
  const found = await rows<{ id: number }>("select id from users where admin = 1 and state = 'active'")
  return found.map(({ id }) => id)
}
