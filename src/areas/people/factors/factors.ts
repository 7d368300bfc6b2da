// What the second factors of a user have in common: the sign-in asks for one as long as the user has an authenticator app or a
// passkey, and the user then has recovery codes.
import type { Origin } from '../../../access/actor.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { holdUserAlone } from '../users/users.queries.js'
import { type Owner, recordChange } from './changes.js'
import { replaceRecoveryCodes } from './recovery-codes.js'

/** The second factors of a user. */
export interface Factors {
  /** Since when the sign-in asks for a second factor; null when it does not. */
  readonly since: Date | null
  /** When the authenticator app was set up; null without one. */
  readonly app: Date | null
  readonly passkeys: number
  readonly recoveryCodes: number
}

export async function factorsOf(userId: number): Promise<Factors> {
  const found = await row<{ since: Date | null; app: Date | null; passkeys: number; codes: number }>(
    `select u.two_factor_at as since,
       (select a.created_at from authenticator_apps a where a.user_id = u.id) as app,
       (select count(*) from passkeys p where p.user_id = u.id) as passkeys,
       (select count(*) from recovery_codes c where c.user_id = u.id) as codes
     from users u where u.id = ?`,
    [userId]
  )
  return {
    since: found?.since ?? null,
    app: found?.app ?? null,
    passkeys: Number(found?.passkeys ?? 0),
    recoveryCodes: Number(found?.codes ?? 0)
  }
}

/**
 * Lets the sign-in of a user ask for a second factor. Returns the new recovery codes, which nothing else shows; none when it
 * already asked. Call it in the transaction that adds a factor, with the user locked.
 */
export async function switchOn(userId: number): Promise<readonly string[]> {
  const { affectedRows } = await execute('update users set two_factor_at = ? where id = ? and two_factor_at is null', [
    new Date(),
    userId
  ])
  return affectedRows === 0 ? [] : replaceRecoveryCodes(userId)
}

/** Does the opposite, once the user has neither an app nor a passkey. Call it in the transaction that removes a factor. */
export async function switchOffWithoutFactors(userId: number): Promise<void> {
  const { app, passkeys } = await factorsOf(userId)
  if (app || passkeys > 0) return
  await execute('update users set two_factor_at = null where id = ?', [userId])
  await execute('delete from recovery_codes where user_id = ?', [userId])
}

/**
 * Removes all second factors of a user and ends the user's sessions, for a person who has lost them. Returns false when there
 * were none.
 */
export function resetFactors(owner: Owner, origin: Origin): Promise<boolean> {
  return transact(async () => {
    await holdUserAlone(owner.id)
    const { since, app, passkeys } = await factorsOf(owner.id)
    if (!since) return false

    await execute('delete from authenticator_apps where user_id = ?', [owner.id])
    await execute('delete from passkeys where user_id = ?', [owner.id])
    await execute('delete from recovery_codes where user_id = ?', [owner.id])
    await execute('delete from sessions where user_id = ?', [owner.id])
    // If a factor is required, the days to set one up begin again. People who remove their own have only what is left of them.
    await execute('update users set two_factor_at = null, two_factor_asked_at = null where id = ?', [owner.id])
    await recordChange(
      {
        owner,
        action: 'two_factor.reset',
        changes: { authenticator_app: { before: app !== null }, passkeys: { before: passkeys } },
        mail: { what: 'reset' }
      },
      origin
    )
    return true
  })
}
