// Blocks and unblocks users. A block ends the user's access at once, and keeps everything that the user created.
import type { Origin } from '../../../access/actor.js'
import { execute } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { User } from '../../../db/models/index.js'
import { Forbidden, NotFound } from '../../../errors.js'
import { publish } from '../../ground/activity/events.js'
import { audit } from '../../ground/audit/audit.js'
import { refuseGhost } from './ghost/ghost.js'
import { refusePlaceholder } from './ghost/placeholders.js'
import { isNeededAdmin, requireOtherAdmin } from './last-admin.js'
import { DORMANT, PENDING } from './suspension.js'

/**
 * Blocks a user and ends the user's sessions. Returns false when the user was already blocked. Throws NotFound, and
 * Forbidden for the last active administrator and for a user whom a directory has blocked. `reason` is not null for a program that
 * unblocks only whom it has blocked.
 */
export function blockUser(id: number, origin: Origin, reason: string | null = null): Promise<boolean> {
  return transact(async () => {
    const user = await lockUser(id)
    // An administrator who blocks a suspended user decides for good.
    if (user.state === 'blocked' && user.blockReason === null) return false
    refuseDirectory(user, 'LDAP blocked users cannot be modified by the API', origin)
    if (user.admin && user.state === 'active') await requireOtherAdmin(id, 'blocked')
    await block(user, 'blocked', origin, reason)
    return true
  })
}

/** Unblocks a user. Returns false when the user was not blocked. Throws NotFound, and Forbidden for a user whom a directory has blocked. */
export function unblockUser(id: number, origin: Origin): Promise<boolean> {
  return transact(async () => {
    const user = await lockUser(id)
    if (user.state === 'active') return false
    refusePlaceholder(user)
    refuseDirectory(user, 'LDAP blocked users cannot be unblocked by the API', origin)
    const pending = user.blockReason === PENDING
    await setState(user, 'active', origin)
    if (pending) await publish({ kind: 'approval.given', userId: id })
    return true
  })
}

/** Not specified: a sysadmin may change them by command, because a directory that is no longer configured never will. */
function refuseDirectory({ state }: User, reason: string, { via }: Origin): void {
  if (state === 'ldap_blocked' && via !== 'command') throw new Forbidden(reason)
}

/** In `users.block_reason`: the directory that has blocked a user. */
const byDirectory = (name: string): string => `directory ${name}`.slice(0, LONGEST_REASON)
const LONGEST_REASON = 32

/** Returns whether it was this directory that has blocked a user. */
export const isBlockedBy = (
  directory: string,
  { state, blockReason: reason }: { readonly state: string; readonly blockReason: string | null }
): boolean =>
  // Earlier versions did not note the directory.
  state === 'ldap_blocked' && (reason === null || reason === byDirectory(directory))

/**
 * Blocks an active or dormant user whom a directory no longer has, and ends the user's sessions. Returns false for other users, and
 * for the last administrator who can sign in.
 */
export function blockByDirectory(id: number, directory: string, origin: Origin): Promise<boolean> {
  return transact(async () => {
    const user = await lockUser(id)
    if (user.state !== 'active' && user.blockReason !== DORMANT) return false
    if (user.admin && (await isNeededAdmin(id))) return false
    await block(user, 'ldap_blocked', origin, byDirectory(directory))
    return true
  })
}

/**
 * Unblocks a user whom a directory has blocked, because it has the user again. Other blocks stay, also those by another directory.
 * Returns whether it did.
 */
export function unblockByDirectory(id: number, directory: string, origin: Origin): Promise<boolean> {
  return transact(async () => {
    const user = await lockUser(id)
    if (!isBlockedBy(directory, user)) return false
    await setState(user, 'active', origin)
    return true
  })
}

async function lockUser(id: number): Promise<User> {
  const user = await User.findByPk(id, { lock: true })
  if (!user) throw new NotFound('User')
  refuseGhost(user)
  return user
}

async function block(
  user: User,
  state: 'blocked' | 'ldap_blocked',
  origin: Origin,
  reason: string | null
): Promise<void> {
  await setState(user, state, origin, reason)
  await execute('delete from sessions where user_id = ?', [user.id])
}

async function setState(
  user: User,
  state: User['state'],
  origin: Origin,
  blockReason: string | null = null
): Promise<void> {
  const before = user.state
  await user.update({ state, blockReason, dormancyWarnedAt: null })
  await audit(origin, {
    action: state === 'active' ? 'user.unblock' : 'user.block',
    target: { type: 'user', id: user.id, name: user.username },
    changes: { state: { before, after: state } }
  })
}
