// The schemas of the four views of a user ("User"): basic, full, for administrators, and own account. users.record.ts
// builds the views.
import { Flag, IdOf, Integer, Moment, Nullable, OneOf, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

export const UserState = OneOf<string>(
  ['active', 'blocked', 'ldap_blocked'],
  'UserState',
  '`blocked` users cannot sign in; a directory has blocked those with `ldap_blocked`'
)

const basic = {
  name: Text('the display name'),
  username: Text('the name for paths and for signing in'),
  id: IdOf('the user'),
  state: UserState,
  avatar_url: Nullable(Text('the URL of the picture')),
  web_url: Text('the URL of the page of the user')
}

const full = {
  ...basic,
  created_at: Moment('when the account was created'),
  is_admin: Flag('whether the user is an administrator'),
  bio: Nullable(Text('a short biography')),
  location: Nullable(Text('where the user lives')),
  messenger: Text('the user name on a messenger; empty when unknown'),
  professional_network: Text('the user name on a professional network; empty when unknown'),
  microblog: Text('the user name on a microblog; empty when unknown'),
  website_url: Text('the website; empty when unknown'),
  organization: Text('the employer; empty when unknown')
}

const Identity = Type.Object(
  {
    provider: Text('the identity provider'),
    extern_uid: Text('the id of the user there')
  },
  { title: 'Identity', description: 'An account at an external provider with which the user can sign in.' }
)

const account = {
  last_sign_in_at: Nullable(Moment('the sign-in before the current one')),
  confirmed_at: Nullable(Moment('when the email address was confirmed')),
  theme_id: Integer('the theme of the pages'),
  color_scheme_id: Integer('the color scheme of code'),
  projects_limit: Integer('the number of projects that the user may own'),
  current_sign_in_at: Nullable(Moment('the last sign-in')),
  identities: Type.Array(Identity, { description: 'accounts at external providers' }),
  can_create_group: Flag('whether the user may create groups'),
  can_create_project: Flag('whether the user may own projects at all'),
  two_factor_enabled: Flag('whether the sign-in asks for a second factor'),
  external: Flag('true for an external user, who sees internal projects only as a member'),
  email: Text('the primary email address')
}

export const UserBasic = Type.Object(basic, {
  title: 'UserBasic',
  description: 'The short form of a user, as other records contain it.'
})
export type UserBasic = Static<typeof UserBasic>

/** The response of a route whose view depends on the caller: attributes that not all callers see are optional. */
export const User = Type.Object(
  {
    ...full,
    ...Object.fromEntries(Object.entries(account).map(([name, schema]) => [name, Type.Optional(schema)]))
  },
  { title: 'User', description: 'A user; administrators see the whole account.' }
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
  { title: 'UserInList', description: 'The short form of a user; administrators see the whole account.' }
)

export const Account = Type.Object(
  {
    ...full,
    ...account,
    private_token: Type.Optional(
      Text('the private token, shown to the user who signs in and to an administrator who uses sudo')
    )
  },
  { title: 'Account', description: 'The account as its user sees it.' }
)
