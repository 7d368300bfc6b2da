// The accounts of users at external providers.
import { config } from '../../../config.js'
import { execute, marks, row, rows } from '../../../db/connect/sql.js'
import { NO_PASSWORD } from '../../../lib/password-hash.js'
import type { Changes } from '../../ground/audit/audit.js'
import type { UserChange } from './users.schema.js'

export interface Identity {
  readonly userId: number
  readonly provider: string
  readonly externUid: string
}

/** Adds identities. The unique key `identities_provider` refuses duplicates. */
export async function insertIdentities(identities: readonly Identity[]): Promise<void> {
  if (identities.length === 0) return
  await execute(
    `insert into identities (user_id, provider, extern_uid) values ${identities.map(() => '(?, ?, ?)').join(', ')}`,
    identities.flatMap(({ userId, provider, externUid }) => [userId, provider, externUid])
  )
  const decided = identities.filter(({ provider }) => decidesPasswords(provider)).map(({ userId }) => userId)
  if (decided.length === 0) return
  // The password is not valid any more. It must not become valid again if the user becomes an administrator (`deciderOf`).
  const sql = `update users set password_hash = ? where id in (${marks(decided)}) and admin = 0`
  await execute(sql, [NO_PASSWORD, ...decided])
}

/** Returns whether a provider is a directory that decides about the passwords of its people. */
export const decidesPasswords = (provider: string): boolean => {
  const { ldap } = config().identity
  return Object.hasOwn(ldap, provider) && ldap[provider]?.local_passwords === false
}

/**
 * Sets the identity that a change names. Returns the changes. Not specified: a new identity replaces the user's
 * identity at the same provider.
 */
export async function setIdentity(
  userId: number,
  { provider, extern_uid: externUid }: Pick<UserChange, 'provider' | 'extern_uid'>
): Promise<Changes> {
  if (provider === undefined || externUid === undefined) return {}
  const known = await row<{ id: number; extern_uid: string }>(
    'select id, extern_uid from identities where user_id = ? and provider = ? order by id limit 1',
    [userId, provider]
  )
  if (known?.extern_uid === externUid) return {}
  if (known) await execute('update identities set extern_uid = ? where id = ?', [externUid, known.id])
  else await insertIdentities([{ userId, provider, externUid }])
  return { [`identity ${provider}`]: { ...(known ? { before: known.extern_uid } : {}), after: externUid } }
}

/**
 * Returns the directory that decides about the password of a user. Decided: an administrator with a password of this appliance keeps
 * it, so that somebody can sign in while the directory is away for good.
 */
export async function deciderOf(
  userId: number,
  providers: readonly string[]
): Promise<{ readonly provider: string; readonly externUid: string } | undefined> {
  if (providers.length === 0) return undefined
  const found = await row<{ provider: string; extern_uid: string }>(
    `select i.provider, i.extern_uid from identities i join users u on u.id = i.user_id
     where i.user_id = ? and i.provider in (${marks(providers)}) and not (u.admin = 1 and u.password_hash <> ?)
     order by i.id limit 1`,
    [userId, ...providers, NO_PASSWORD]
  )
  return found && { provider: found.provider, externUid: found.extern_uid }
}

/** Removes the identities of a user at a provider. Returns their ids there. Call it inside `transact`. */
export async function deleteIdentities(userId: number, provider: string): Promise<string[]> {
  const found = await rows<{ id: number; extern_uid: string }>(
    'select id, extern_uid from identities where user_id = ? and provider = ? for update',
    [userId, provider]
  )
  await execute(
    `delete from identities where id in (${marks(found)})`,
    found.map(({ id }) => id)
  )
  return found.map(({ extern_uid }) => extern_uid)
}

/** Records the address that a provider gives a person. */
export async function noteAddress({ provider, externUid }: Omit<Identity, 'userId'>, email: string): Promise<void> {
  await execute('update identities set email = ? where provider = ? and extern_uid = ?', [email, provider, externUid])
}

/** Records that a directory has these people. */
export async function noteSeen(provider: string, uids: readonly string[], at: Date): Promise<void> {
  if (uids.length === 0) return
  const sql = `update identities set seen_at = ? where provider = ? and extern_uid in (${marks(uids)})`
  await execute(sql, [at, provider, ...uids])
}
