// The four views of a user ("User"): basic, full, administrator's and own account.
import { type Static, Type } from 'typebox'
import { publicUrl } from '../../config.js'
import { DateTime, Nullable } from '../../lib/schema.js'
import type { UserRow } from './users.queries.js'

const basic = {
  name: Type.String(),
  username: Type.String(),
  id: Type.Integer(),
  state: Type.String(),
  avatar_url: Nullable(Type.String()),
  web_url: Type.String()
}

const full = {
  ...basic,
  created_at: DateTime,
  is_admin: Type.Boolean(),
  bio: Nullable(Type.String()),
  location: Nullable(Type.String()),
  messenger: Type.String(),
  professional_network: Type.String(),
  microblog: Type.String(),
  website_url: Type.String(),
  organization: Type.String()
}

const account = {
  last_sign_in_at: Nullable(DateTime),
  confirmed_at: Nullable(DateTime),
  theme_id: Type.Integer(),
  color_scheme_id: Type.Integer(),
  projects_limit: Type.Integer(),
  current_sign_in_at: Nullable(DateTime),
  identities: Type.Array(Type.Object({ provider: Type.String(), extern_uid: Type.String() })),
  can_create_group: Type.Boolean(),
  can_create_project: Type.Boolean(),
  two_factor_enabled: Type.Boolean(),
  external: Type.Boolean(),
  email: Type.String()
}

export const UserBasic = Type.Object(basic)
export type UserBasic = Static<typeof UserBasic>

/** What a route answers whose view depends on who asks: the attributes that not everybody sees are optional. */
export const User = Type.Object({
  ...full,
  ...Object.fromEntries(Object.entries(account).map(([name, schema]) => [name, Type.Optional(schema)]))
})

export const UserInList = Type.Object({
  ...basic,
  ...Object.fromEntries(
    Object.entries({ ...full, ...account })
      .filter(([name]) => !(name in basic))
      .map(([name, schema]) => [name, Type.Optional(schema)])
  )
})

export const Account = Type.Object({ ...full, ...account, private_token: Type.Optional(Type.String()) })

export const viewUserBasic = (user: Pick<UserRow, 'id' | 'name' | 'username' | 'state'>): UserBasic => ({
  name: user.name,
  username: user.username,
  id: user.id,
  state: user.state,
  avatar_url: null,
  web_url: `${publicUrl()}/${user.username}`
})

export const viewUser = (user: UserRow) => ({
  ...viewUserBasic(user),
  created_at: user.created_at,
  is_admin: user.admin === 1,
  bio: user.bio,
  location: user.location,
  messenger: user.messenger,
  professional_network: user.professional_network,
  microblog: user.microblog,
  website_url: user.website_url,
  organization: user.organization
})

export const viewUserForAdmin = (user: UserRow) => ({
  ...viewUser(user),
  last_sign_in_at: user.last_sign_in_at,
  confirmed_at: user.confirmed_at,
  theme_id: user.theme_id,
  color_scheme_id: user.color_scheme_id,
  projects_limit: user.projects_limit,
  current_sign_in_at: user.current_sign_in_at,
  identities: JSON.parse(user.identities ?? '[]') as { provider: string; extern_uid: string }[],
  can_create_group: user.can_create_group === 1,
  can_create_project: user.projects_limit > 0,
  two_factor_enabled: false,
  external: user.external === 1,
  email: user.email
})

/** The own-account view; with the private token where the requirement shows it. */
export const viewAccount = (user: UserRow, privateToken?: string) => ({
  ...viewUserForAdmin(user),
  ...(privateToken === undefined ? {} : { private_token: privateToken })
})
