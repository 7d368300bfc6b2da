import { marks, row, rows } from '../../../db/connect/sql.js'
import type { Columns } from './filter.js'
import { type Listed, type ListQuery, readList } from './lists.js'

/** An account that the directory manages. */
export interface ScimUserRow {
  readonly id: number
  readonly user_name: string
  readonly external_id: string | null
  readonly display_name: string | null
  readonly formatted_name: string | null
  readonly given_name: string | null
  readonly family_name: string | null
  readonly email_type: string
  readonly version: number
  readonly deleted_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly username: string
  readonly name: string
  readonly email: string
  readonly state: string
  readonly block_reason: string | null
  readonly admin: number
}

const SELECT = `s.user_id as id, s.user_name, s.external_id, s.display_name, s.formatted_name, s.given_name, s.family_name,
  s.email_type, s.version, s.deleted_at, s.created_at, s.updated_at, u.username, u.name, u.email, u.state, u.block_reason, u.admin`
const FROM = 'scim_users s join users u on u.id = s.user_id'

const EMAIL = { sql: 'u.email_key', kind: 'text' } as const
const USER_COLUMNS: Columns = {
  columns: {
    id: { sql: 's.user_id', kind: 'number' },
    username: { sql: 's.user_name_key', kind: 'text' },
    externalid: { sql: 's.external_id', kind: 'exact' },
    displayname: { sql: 'lower(s.display_name)', kind: 'text' },
    'name.formatted': { sql: 'lower(s.formatted_name)', kind: 'text' },
    'name.givenname': { sql: 'lower(s.given_name)', kind: 'text' },
    'name.familyname': { sql: 'lower(s.family_name)', kind: 'text' },
    active: { sql: "(u.state = 'active')", kind: 'flag' },
    emails: EMAIL,
    'emails.value': EMAIL,
    'emails.type': { sql: 's.email_type', kind: 'text' },
    'emails.primary': { sql: 'true', kind: 'flag' },
    'meta.created': { sql: 's.created_at', kind: 'moment' },
    'meta.lastmodified': { sql: 's.updated_at', kind: 'moment' }
  }
}

/** Returns a part of the accounts that the directory manages. */
export const listScimUsers = (query: ListQuery): Promise<Listed<ScimUserRow>> =>
  readList(
    { select: SELECT, from: FROM, where: 's.deleted_at is null', order: 's.user_id', columns: USER_COLUMNS },
    query
  )

/** Returns an account that the directory manages. */
export const findScimUser = (id: number): Promise<ScimUserRow | undefined> =>
  row<ScimUserRow>(`select ${SELECT} from ${FROM} where s.user_id = ? and s.deleted_at is null`, [id])

/** Returns the account with a name in the directory, also one that the directory has deleted. */
export const scimUserNamed = (userName: string): Promise<ScimUserRow | undefined> =>
  row<ScimUserRow>(`select ${SELECT} from ${FROM} where s.user_name_key = lower(?)`, [userName])

/** Returns the account of a user, also one that the directory has deleted. */
export const scimUserOf = (userId: number): Promise<ScimUserRow | undefined> =>
  row<ScimUserRow>(`select ${SELECT} from ${FROM} where s.user_id = ?`, [userId])

/** A group of the directory that a user is in. */
export interface GroupOfUser {
  readonly user_id: number
  readonly group_id: number
  readonly display_name: string
}

/** Returns how many groups each of these users is in, in their order. */
export async function groupCounts(ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return []
  const found = await rows<{ user_id: number; size: number }>(
    `select user_id, count(*) as size from scim_group_members where user_id in (${marks(ids)}) group by user_id`,
    ids
  )
  const sizes = new Map(found.map(({ user_id, size }) => [user_id, size]))
  return ids.map(id => sizes.get(id) ?? 0)
}

/** Returns the groups of these users, with one statement. */
export async function groupsOfUsers(ids: readonly number[]): Promise<ReadonlyMap<number, GroupOfUser[]>> {
  if (ids.length === 0) return new Map()
  const found = await rows<GroupOfUser>(
    `select m.user_id, m.group_id, g.display_name from scim_group_members m join scim_groups g on g.id = m.group_id
     where m.user_id in (${marks(ids)}) order by m.user_id, m.group_id`,
    ids
  )
  return Map.groupBy(found, ({ user_id }) => user_id)
}
