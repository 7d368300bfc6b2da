// The schemas of the four views of a user ("User"): basic, full, for administrators, and own account. users.record.ts
// fills them.
import { Flag, IdOf, Integer, Moment, Nullable, OneOf, Text } from '../../lib/schema.js'
import { type Static, Type } from '../../lib/type.js'

export const UserState = OneOf<string>(['active', 'blocked'], 'UserState', 'whether the user may come in')

const basic = {
  name: Text('the name that people read'),
  username: Text('the name in paths and for signing in'),
  id: IdOf('the user'),
  state: UserState,
  avatar_url: Nullable(Text('the URL of the picture')),
  web_url: Text('the URL of the page of the user')
}

const full = {
  ...basic,
  created_at: Moment('when the account was made'),
  is_admin: Flag('whether the user is an administrator'),
  bio: Nullable(Text('what the user tells about themselves')),
  location: Nullable(Text('where the user lives')),
  messenger: Text('the account at a messenger; empty when unknown'),
  professional_network: Text('the account at a professional network; empty when unknown'),
  microblog: Text('the account at a microblog; empty when unknown'),
  website_url: Text('the website; empty when unknown'),
  organization: Text('the employer; empty when unknown')
}

const Identity = Type.Object(
  {
    provider: Text('the service that knows the user'),
    extern_uid: Text('the id that the user has there')
  },
  { title: 'Identity', description: 'An account elsewhere, by which the user can sign in.' }
)

const account = {
  last_sign_in_at: Nullable(Moment('the sign-in before the current one')),
  confirmed_at: Nullable(Moment('when the email address was confirmed')),
  theme_id: Integer('the theme of the pages'),
  color_scheme_id: Integer('the color scheme of code'),
  projects_limit: Integer('projects that the user may own'),
  current_sign_in_at: Nullable(Moment('the last sign-in')),
  identities: Type.Array(Identity, { description: 'accounts elsewhere' }),
  can_create_group: Flag('whether the user may create groups'),
  can_create_project: Flag('whether the user may own projects at all'),
  two_factor_enabled: Flag('whether the sign-in asks for a second factor'),
  external: Flag('whether the user sees internal projects only as a member'),
  email: Text('the primary email address')
}

export const UserBasic = Type.Object(basic, {
  title: 'UserBasic',
  description: 'A user in short, as other records show people.'
})
export type UserBasic = Static<typeof UserBasic>

/** The answer of a route whose view depends on the actor: attributes that not all actors see are optional. */
export const User = Type.Object(
  {
    ...full,
    ...Object.fromEntries(Object.entries(account).map(([name, schema]) => [name, Type.Optional(schema)]))
  },
  { title: 'User', description: 'A user; administrators see all of the account.' }
)

export const UserInList = Type.Object(
  {
    ...basic,
    ...Object.fromEntries(
      Object.entries({ ...full, ...account })
        .filter(([name]) => !(name in basic))
        .map(([name, schema]) => [name, Type.Optional(schema)])
    )
  },
  { title: 'UserInList', description: 'A user in short; administrators see all of the account.' }
)

export const Account = Type.Object(
  {
    ...full,
    ...account,
    private_token: Type.Optional(Text('the private token: to the user who signs in, or to an administrator by sudo'))
  },
  { title: 'Account', description: 'All that users see of their own account.' }
)
