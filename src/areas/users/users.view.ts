// The schemas of the four views of a user ("User"): basic, full, administrator's and own account. users.record.ts fills them.
import { type Static, Type } from 'typebox'
import { DateTime, Nullable } from '../../lib/schema.js'

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
