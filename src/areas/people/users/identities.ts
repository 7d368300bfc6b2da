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

// A user may have identities at several providers. Each says whether the person is an administrator, or an external user, or leaves
// that open. A user has a right while one of them says so, or when somebody has given it by hand.
const RIGHTS = ['admin', 'external'] as const
type Right = (typeof RIGHTS)[number]

/** What a provider says. What is missing is open. */
export type SaidRights = { readonly [R in Right]?: boolean }

/** The rights of a user, with what they follow from. */
export type KnownRights = { readonly [R in Right | `${Right}_by_hand`]: number } & {
  /** What this provider has said before, and whether another one says so. */
  readonly [R in `${Right}_said` | `${Right}_elsewhere`]: number | null
}

/** The columns of KnownRights, of `users u` and `identities i`, which a user may lack. */
export const KNOWN_RIGHTS = RIGHTS.map(
  right => `u.${right}, u.${right}_by_hand, i.${right} as ${right}_said,
    (select max(o.${right}) from identities o where o.user_id = u.id and not o.id <=> i.id) as ${right}_elsewhere`
).join(', ')

/** Returns the rights that change with what a provider says now. */
export function changedRights(known: KnownRights, said: SaidRights): SaidRights {
  const changed = RIGHTS.flatMap(right => {
    if (said[right] === undefined) return []
    const has = said[right] || known[`${right}_by_hand`] === 1 || known[`${right}_elsewhere`] === 1
    return has === (known[right] === 1) ? [] : [[right, has]]
  })
  return Object.fromEntries(changed)
}

/** Returns whether a provider says something else than before. */
export const saysOther = (known: KnownRights, said: SaidRights): boolean =>
  RIGHTS.some(right => said[right] !== undefined && Number(said[right]) !== known[`${right}_said`])

/** Records what a provider says. Call it inside `transact`. */
export async function noteRights(
  { provider, externUid }: Omit<Identity, 'userId'>,
  { admin = null, external = null }: { readonly [R in Right]?: boolean | null }
): Promise<void> {
  const sql =
    'update identities set admin = coalesce(?, admin), external = coalesce(?, external) where provider = ? and extern_uid = ?'
  await execute(sql, [admin, external, provider, externUid])
}

/** After a person has taken a right from a user, it does not count what providers have said before. */
export async function forgetRights(userId: number, change: SaidRights): Promise<void> {
  const taken = RIGHTS.filter(right => change[right] === false)
  if (taken.length === 0) return
  await execute(`update identities set ${taken.map(right => `${right} = null`).join(', ')} where user_id = ?`, [userId])
}

/** Returns whether only the identity at this provider makes the user an administrator. */
export async function isAdminOnlyBy(userId: number, provider: string): Promise<boolean> {
  const known = await row<KnownRights>(
    `select ${KNOWN_RIGHTS} from users u join identities i on i.user_id = u.id where u.id = ? and i.provider = ?`,
    [userId, provider]
  )
  return known?.admin_said === 1 && changedRights(known, { admin: false }).admin === false
}
