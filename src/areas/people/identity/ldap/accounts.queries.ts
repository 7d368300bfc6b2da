import { marks, row, rows } from '../../../../db/connect/sql.js'
import type { User } from '../../../../db/models/index.js'
import { KNOWN_RIGHTS, type KnownRights } from '../../users/identities.js'
import { DORMANT } from '../../users/suspension.js'

/** A user with an identity at a directory, as the synchronization compares it. */
export interface KnownPerson extends KnownRights {
  readonly id: number
  readonly extern_uid: string
  readonly username: string
  readonly name: string
  readonly email: string
  readonly state: User['state']
  readonly blockReason: string | null
}

const KNOWN = `u.id, i.extern_uid, u.username, u.name, u.email, u.state, u.block_reason as blockReason, ${KNOWN_RIGHTS}`

/** Returns the users of these identities. */
export const knownPeople = (provider: string, uids: readonly string[]): Promise<KnownPerson[]> =>
  uids.length === 0
    ? Promise.resolve([])
    : rows<KnownPerson>(
        `select ${KNOWN} from identities i join users u on u.id = i.user_id
         where i.provider = ? and i.extern_uid in (${marks(uids)})`,
        [provider, ...uids]
      )

/** The owner of a dormant account could come back. */
const ENTERING_OF = `from identities i join users u on u.id = i.user_id
  where i.provider = ? and (u.state = 'active' or u.block_reason = '${DORMANT}')`
const UNSEEN = 'and (i.seen_at is null or i.seen_at < ?)'

/** Returns how many active and dormant users have an identity at a provider, and how many of these were not seen since a time. */
export async function countUnseen(provider: string, since: Date): Promise<{ all: number; unseen: number }> {
  const found = await row<{ total: number; unseen: number }>(
    `select count(*) as total, coalesce(sum(i.seen_at is null or i.seen_at < ?), 0) as unseen ${ENTERING_OF}`,
    [since, provider]
  )
  return { all: Number(found?.total ?? 0), unseen: Number(found?.unseen ?? 0) }
}

/** Returns some active and dormant users who were not seen since a time, in the order of their ids. */
export const listUnseen = (provider: string, since: Date, afterId: number, most: number): Promise<KnownPerson[]> =>
  rows<KnownPerson>(`select ${KNOWN} ${ENTERING_OF} ${UNSEEN} and u.id > ? order by u.id limit ${most}`, [
    provider,
    since,
    afterId
  ])
