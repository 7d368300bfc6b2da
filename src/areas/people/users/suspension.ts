// Users who are blocked until something happens: an administrator approves the new account, or the owner of an account that nobody
// has used comes back. An administrator who blocks or unblocks such a user ends this.
import type { Origin } from '../../../access/actor.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Conflict, Forbidden, NotFound } from '../../../errors.js'
import { publish } from '../../ground/activity/events.js'
import { audit } from '../../ground/audit/audit.js'
import { requireOtherAdmin } from './last-admin.js'

/** A new account. */
export const PENDING = 'pending approval'
/** Nobody has used the account for a long time. */
export const DORMANT = 'dormant'

export interface Suspendable {
  readonly id: number
  readonly username: string
  readonly state: string
  readonly block_reason: string | null
}

/** Returns whether the owner of an account may learn its state, or come back. Other blocked users look like users who do not exist. */
export const isSuspended = ({ state, block_reason: reason }: Suspendable): boolean =>
  state === 'blocked' && (reason === PENDING || reason === DORMANT)

/** Returns whether the owner of an account may begin a session. */
export const mayEnter = ({ state, block_reason: reason }: Omit<Suspendable, 'id' | 'username'>): boolean =>
  state === 'active' || (state === 'blocked' && reason === DORMANT)

/**
 * Lets somebody enter who has proved to own the account. A dormant account becomes active again; with a second factor, it does so
 * only when the session begins, after that factor. Throws Forbidden, with words for the person, when an administrator must approve
 * the account or has blocked it.
 */
export async function letIn(user: Suspendable, address: string): Promise<void> {
  if (user.state === 'active') return
  if (user.state !== 'blocked' || user.block_reason !== DORMANT) {
    throw new Forbidden(
      isSuspended(user)
        ? 'An administrator must approve your account first. You will get a mail'
        : 'Your account is blocked'
    )
  }
  await wake(user, address, { unlessFactor: true })
}

/** Makes a dormant account active again. Throws Forbidden when an administrator has blocked it. */
export function wake(
  { id, username }: { readonly id: number; readonly username: string },
  address: string,
  { unlessFactor = false } = {}
): Promise<void> {
  const origin: Origin = { user: null, asker: null, name: username, actingAs: null, via: 'password', address }
  return transact(async () => {
    const now = await lockSuspended(id)
    // An administrator was faster.
    if (now?.reason !== DORMANT && now?.state !== 'active') throw new Forbidden('Your account is blocked')
    if (now.reason !== DORMANT || (unlessFactor && now.has_factor === 1)) return
    await release({ id, username, reason: DORMANT }, origin)
  })
}

/** Lets a new user in. Throws NotFound, and Conflict for a user whom nobody has to approve. */
export function approveUser({ id, username }: { id: number; username: string }, origin: Origin): Promise<void> {
  return transact(async () => {
    await requirePending({ id, username })
    await release({ id, username, reason: PENDING }, origin)
    await publish({ kind: 'approval.given', userId: id })
  })
}

/** Locks a user whom an administrator has to approve. Call it inside `transact`. Throws NotFound and Conflict. */
export async function requirePending({ id, username }: { id: number; username: string }): Promise<void> {
  const found = await lockSuspended(id)
  if (!found) throw new NotFound('User')
  if (found.reason !== PENDING) throw new Conflict(`user ${username} does not wait for approval`)
}

/** Warns a user by mail that the account will be blocked because nobody uses it. */
export function warnDormant(
  id: number,
  { days, notice }: { readonly days: number; readonly notice: number }
): Promise<void> {
  return transact(async () => {
    const now = new Date()
    await execute("update users set dormancy_warned_at = ? where id = ? and state = 'active'", [now, id])
    await publish({ kind: 'user.dormant', userId: id, days, notice })
  })
}

/**
 * Blocks a user who has not used the appliance since `used`, and ends the user's sessions. Returns false when the user came back in
 * the meantime. Throws Forbidden for the last administrator.
 */
export function suspendDormant(id: number, used: Date, origin: Origin): Promise<boolean> {
  return transact(async () => {
    if (!(await lockRow('users', id))) return false
    const found = await row<{ username: string; admin: number }>(
      `select u.username, u.admin from users u where u.id = ? and u.state = 'active'
         and (u.current_sign_in_at is null or u.current_sign_in_at <= ?)
         and not exists (select 1 from user_uses l where l.user_id = u.id and l.last_used_at > ?)`,
      [id, used, used]
    )
    if (!found) return false
    if (found.admin === 1) await requireOtherAdmin(id, 'blocked')
    await execute("update users set state = 'blocked', block_reason = ?, updated_at = ? where id = ?", [
      DORMANT,
      new Date(),
      id
    ])
    await execute('delete from sessions where user_id = ?', [id])
    await audit(origin, {
      action: 'user.block',
      target: { type: 'user', id, name: found.username },
      changes: { state: { before: 'active', after: 'blocked' }, block_reason: { after: DORMANT } }
    })
    return true
  })
}

interface Locked {
  readonly state: string
  readonly reason: string | null
  readonly has_factor: number
}

async function lockSuspended(id: number): Promise<Locked | undefined> {
  if (!(await lockRow('users', id))) return undefined
  return row<Locked>(
    'select state, block_reason as reason, two_factor_at is not null as has_factor from users where id = ?',
    [id]
  )
}

async function release(
  { id, username, reason }: { id: number; username: string; reason: string },
  origin: Origin
): Promise<void> {
  const now = new Date()
  await execute(
    "update users set state = 'active', block_reason = null, dormancy_warned_at = null, updated_at = ? where id = ?",
    [now, id]
  )
  await audit(origin, {
    action: 'user.unblock',
    target: { type: 'user', id, name: username },
    changes: { state: { before: 'blocked', after: 'active' }, block_reason: { before: reason, after: null } }
  })
}
