// A user inside another record, such as the user who started a build. The statement left-joins the user and selects the
// columns; the view returns null for a deleted user.
import type { UserRow } from './users.queries.js'
import { FULL, viewUser, viewUserBasic } from './users.record.js'
import type { UserBasic } from './users.view.js'

const BASIC = ['id', 'name', 'username', 'state'] as const
type Columns<Names extends readonly (keyof UserRow)[]> = {
  readonly [Name in Names[number] as `user_${Name}`]: UserRow[Name]
}
type Basic = Columns<typeof BASIC>
type Full = Columns<typeof FULL>

/** The columns of a user in another row: all are null when the user was deleted. */
export type JoinedUser = Basic | Nulls<Basic>
export type JoinedFullUser = Full | Nulls<Full>
type Nulls<Row> = { readonly [Key in keyof Row]: null }

const columnsOf = (names: readonly string[]) => names.map(name => `u.${name} as user_${name}`).join(', ')

/** The columns of JoinedUser for a statement that joins `users u`. */
export const JOINED_USER = columnsOf(BASIC)
/** The columns of JoinedFullUser for a statement that joins `users u`. */
export const JOINED_FULL_USER = columnsOf(FULL)

export const viewJoinedUser = (row: JoinedUser): UserBasic | null =>
  row.user_id === null
    ? null
    : viewUserBasic({ id: row.user_id, name: row.user_name, username: row.user_username, state: row.user_state })

export const viewJoinedFullUser = (row: JoinedFullUser) =>
  row.user_id === null
    ? null
    : viewUser({
        id: row.user_id,
        name: row.user_name,
        username: row.user_username,
        state: row.user_state,
        created_at: row.user_created_at,
        admin: row.user_admin,
        bio: row.user_bio,
        location: row.user_location,
        messenger: row.user_messenger,
        professional_network: row.user_professional_network,
        microblog: row.user_microblog,
        website_url: row.user_website_url,
        organization: row.user_organization
      })
