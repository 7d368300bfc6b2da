// The accounts of users at external providers.
import { execute, row } from '../../../db/connect/sql.js'
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
