// A user in the record of something else: who started a build, who pushed what a pipeline runs. The statement joins
// the user from the left, selects the columns, and the view makes null of a user who is gone.
import { publicUrl } from '../../config.js'
import type { UserRow } from './users.queries.js'
import { viewUserBasic } from './users.record.js'
import type { UserBasic } from './users.view.js'

const BASIC = ['id', 'name', 'username', 'state'] as const
const FULL = [
  ...BASIC,
  'created_at',
  'admin',
  'bio',
  'location',
  'messenger',
  'professional_network',
  'microblog',
  'website_url',
  'organization'
] as const

type Columns<Names extends readonly (keyof UserRow)[]> = {
  readonly [Name in Names[number] as `user_${Name}`]: UserRow[Name]
}
type Basic = Columns<typeof BASIC>
type Full = Columns<typeof FULL>

/** The columns of a user in another row: all are null when the user is gone. */
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

/** All fields are written out, because spreading another view took as long as the rest of a build. */
export function viewJoinedFullUser(row: JoinedFullUser) {
  if (row.user_id === null) return null
  return {
    name: row.user_name,
    username: row.user_username,
    id: row.user_id,
    state: row.user_state,
    avatar_url: null,
    web_url: `${publicUrl()}/${row.user_username}`,
    created_at: row.user_created_at,
    is_admin: row.user_admin === 1,
    bio: row.user_bio,
    location: row.user_location,
    messenger: row.user_messenger,
    professional_network: row.user_professional_network,
    microblog: row.user_microblog,
    website_url: row.user_website_url,
    organization: row.user_organization
  }
}
