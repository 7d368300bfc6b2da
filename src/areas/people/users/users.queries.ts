import { lockRow } from '../../../db/connect/lock-row.js'
import { marks, padded, row, rows, type Value } from '../../../db/connect/sql.js'
import { and, contains } from '../../../db/lists/conditions.js'
import { fromId } from '../../../db/lists/keyset-cache.js'
import { PART, type Page, pageOfIds, window } from '../../../db/lists/paginate.js'
import { candidatesOf, USER_TEXTS } from '../../../db/lists/trigrams.js'
import { NoSuch, NotFound } from '../../../errors.js'
import { NO_GHOST } from './ghost/ghost.js'
import type { UserListQuery } from './users.schema.js'

export interface UserRow {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly state: 'active' | 'blocked' | 'ldap_blocked'
  readonly admin: number
  readonly external: number
  readonly bio: string | null
  readonly location: string | null
  readonly messenger: string
  readonly professional_network: string
  readonly microblog: string
  readonly website_url: string
  readonly organization: string
  readonly projects_limit: number
  readonly can_create_group: number
  readonly theme_id: number
  readonly color_scheme_id: number
  readonly confirmed_at: Date | null
  readonly last_sign_in_at: Date | null
  readonly current_sign_in_at: Date | null
  readonly created_at: Date
  /** Since when the sign-in asks for a second factor; null when it does not. */
  readonly two_factor_at: Date | null
  /** In the order in which they were added. */
  readonly identities: readonly UserIdentity[]
}

interface UserIdentity {
  readonly provider: string
  readonly extern_uid: string
}

const COLUMNS = `u.id, u.username, u.name, u.email, u.state, u.admin, u.external, u.bio, u.location, u.messenger,
  u.professional_network, u.microblog, u.website_url, u.organization, u.projects_limit, u.can_create_group, u.theme_id,
  u.color_scheme_id, u.confirmed_at, u.last_sign_in_at, u.current_sign_in_at, u.created_at, u.two_factor_at`
// A subselect with the identities themselves made the database open a temporary table on the disk: 0.2 ms for each statement.
const FULL = `${COLUMNS}, exists (select 1 from identities e where e.user_id = u.id) as has_identities`

/** A row of a statement with the columns FULL. */
type Stored<Row> = Omit<Row, 'identities'> & { readonly has_identities: number }

/** Adds the identities to users. Only a page with some takes a statement. */
async function withIdentities<Row extends UserRow>(found: readonly Stored<Row>[]): Promise<Row[]> {
  const ids = padded(found.filter(({ has_identities: has }) => has === 1).map(({ id }) => id))
  const identities =
    ids.length === 0
      ? []
      : await rows<UserIdentity & { readonly user_id: number }>(
          `select user_id, provider, extern_uid from identities where user_id in (${marks(ids)}) order by id`,
          ids
        )
  const of = Map.groupBy(identities, ({ user_id: id }) => id)
  return found.map(({ has_identities: _, ...user }) => {
    const own = of.get(user.id) ?? []
    return { ...user, identities: own.map(({ provider, extern_uid }) => ({ provider, extern_uid })) } as unknown as Row
  })
}

async function readUser(where: string, values: readonly Value[]): Promise<UserRow | undefined> {
  const found = await row<Stored<UserRow>>(`select ${FULL} from users u where ${where}`, values)
  return found && (await withIdentities<UserRow>([found]))[0]
}

export function findUser(id: number): Promise<UserRow | undefined> {
  return readUser('u.id = ?', [id])
}

/** Returns the user whose id the path contains; undefined when the text is not an id, or no user has it. */
async function findNumberedUser(id: string): Promise<UserRow | undefined> {
  return /^\d{1,10}$/.test(id) ? findUser(Number(id)) : undefined
}

/** Returns the user whose id the path contains. Throws NotFound. */
export async function requireNumberedUser(id: string): Promise<UserRow> {
  const user = await findNumberedUser(id)
  if (!user) throw new NotFound('User')
  return user
}

/** Returns the user id in a path; perhaps no user has it. Throws NotFound when the text is not a number. */
export function userNumber(id: string): number {
  if (!/^\d+$/.test(id)) throw new NotFound('User')
  // No user can have an id this long, nor the id 0.
  return id.length > 10 ? 0 : Number(id)
}

/** Prevents the deletion of a user until the current transaction ends. Throws NotFound when the user no longer exists. */
export async function holdUser(id: number): Promise<void> {
  if (!(await row('select id from users where id = ? lock in share mode', [id]))) throw new NotFound('User')
}

/** Does the same as `holdUser`, and makes other transactions that call either function wait. */
export async function holdUserAlone(id: number): Promise<void> {
  if (!(await lockRow('users', id))) throw new NotFound('User')
}

/**
 * Returns the user whom a sysadmin names by username, mail address or id, in this order, because a username may consist
 * of digits. Throws NoSuch.
 */
export async function requireUser(name: string): Promise<UserRow> {
  const byText = 'u.username_key = lower(?) or u.email_key = lower(?)'
  const found = (await readUser(byText, [name, name])) ?? (await findNumberedUser(name))
  if (!found) throw new NoSuch('user', name)
  return found
}

/** Returns whether a user exists and is not blocked. */
export async function isActiveUser(id: number): Promise<boolean> {
  return (await row("select 1 from users where id = ? and state = 'active'", [id])) !== undefined
}

/** Returns the encrypted private token of a user. */
export async function findPrivateToken(userId: number): Promise<Buffer | undefined> {
  const found = await row<{ encrypted: Buffer }>(
    "select encrypted from access_tokens where user_id = ? and kind = 'private' and revoked_at is null limit 1",
    [userId]
  )
  return found?.encrypted
}

/** The filters of the API, and those of commands. */
export interface UserFilter extends UserListQuery {
  readonly admins?: boolean
  /** Only users who existed then and have not used the appliance since: no sign-in, no token, no git. */
  readonly dormantSince?: Date
  /** Only users whom an administrator must approve. */
  readonly pending?: boolean
}

/** A user as commands list them. */
export interface ListedUserRow extends UserRow {
  /** Written at most once an hour; null for a user who has never used the appliance. */
  readonly last_used_at: Date | null
  /** Why a blocked user may come back: `pending approval` or `dormant`. */
  readonly block_reason: string | null
}

/** The columns that everybody may read. */
export type ShortUserRow = Pick<UserRow, 'id' | 'username' | 'name' | 'state'>

/** Returns a page of users, newest first. Not specified: the order. Only administrators can filter by `external` and `admins`. */
export async function listUsers(query: UserFilter, asker: { admin: boolean }): Promise<Page<UserRow>> {
  const page = await pageOfUsers<Stored<UserRow>>(FULL, query, asker.admin)
  return { ...page, items: await withIdentities<UserRow>(page.items) }
}

/**
 * Returns the same page for callers who are not administrators and see only these columns. For the full records, the database
 * takes three times as long.
 */
export function listUsersInShort(query: UserFilter): Promise<Page<ShortUserRow>> {
  return pageOfUsers<ShortUserRow>('u.id, u.username, u.name, u.state', query, false)
}

async function pageOfUsers<T extends { readonly id: number }>(
  columns: string,
  query: UserFilter,
  admin: boolean
): Promise<Page<T>> {
  const { where, values } = await filter(query, admin)
  return pageOfIds<T>(window(query), {
    direction: 'desc',
    counting: { sql: `select count(*) as total from users u where ${where}`, values },
    idOf: ({ id }) => id,
    read: ({ direction, sql, from }) => {
      const page = and({ sql: where, values }, from && fromId('u.id', direction, from))
      return rows<T>(`select ${columns} from users u where ${page.sql} order by u.id ${direction} ${sql}`, page.values)
    }
  })
}

const LISTED = `${FULL}, u.block_reason,
  (select l.last_used_at from user_uses l where l.user_id = u.id) as last_used_at`

/** Returns the same page for commands. */
export async function listUsersWithUse(query: UserFilter): Promise<Page<ListedUserRow>> {
  const page = await pageOfUsers<Stored<ListedUserRow>>(LISTED, query, true)
  return { ...page, items: await withIdentities<ListedUserRow>(page.items) }
}

/**
 * Returns the next part of that list, newest first: users with a lower id than `before`. Unlike a page, it costs the
 * same at any depth, so a command can read the whole list.
 */
export async function usersBefore(query: UserFilter, before: number): Promise<ListedUserRow[]> {
  const { where, values } = await filter(query, true)
  const found = await rows<Stored<ListedUserRow>>(
    `select ${LISTED} from users u where ${where} and u.id < ? order by u.id desc limit ${PART}`,
    [...values, before]
  )
  return withIdentities<ListedUserRow>(found)
}

async function filter(
  { active, admins, blocked, dormantSince, external, pending, search, username }: UserFilter,
  admin: boolean
) {
  const where = [NO_GHOST]
  const values: Value[] = []
  if (active) where.push("u.state = 'active'")
  if (blocked) where.push("u.state <> 'active'")
  // PENDING in suspension.ts.
  if (pending && admin) where.push("u.block_reason = 'pending approval'")
  if (admins && admin) where.push('u.admin = 1')
  if (external && admin) where.push('u.external = 1')
  if (dormantSince && admin) {
    where.push(
      `u.created_at < ? and (u.current_sign_in_at is null or u.current_sign_in_at < ?)
       and not exists (select 1 from user_uses d where d.user_id = u.id and d.last_used_at >= ?)`
    )
    values.push(dormantSince, dormantSince, dormantSince)
  }
  if (username !== undefined) {
    where.push('u.username_key = lower(?)')
    values.push(username)
  }
  if (search) {
    // Only administrators find addresses by a part of them: other users could discover an address piece by piece. Not
    // specified: everybody finds a user by the whole address, which they must already know.
    const found = contains(['u.name', 'u.username', ...(admin ? ['u.email'] : [])], search)
    // The index contains the addresses, too.
    const candidates = await candidatesOf(USER_TEXTS, search)
    if (candidates) {
      where.push(`u.id in (${candidates.ids.sql})`)
      values.push(...candidates.ids.values)
    }
    where.push(`(${found.sql} or u.email_key = lower(?))`)
    values.push(...found.values, search)
  }
  return { where: where.join(' and '), values }
}
