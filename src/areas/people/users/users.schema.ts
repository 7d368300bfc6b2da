import { Flag, Integer, Paging, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

const text = (description: string, maxLength = 255) => Type.Optional(Text(description, { maxLength }))
const flag = (description: string) => Type.Optional(Flag(description))
const needed = (description: string, maxLength = 255) => Text(description, { minLength: 1, maxLength })

export const UserListQuery = Type.Object({
  ...Paging,
  active: flag('true: only users who are not blocked'),
  blocked: flag('true: only blocked users'),
  external: flag('true: only external users'),
  search: text(
    'a part of the name or the username, or the whole email address; administrators can also search by a part of the email address'
  ),
  username: text('the whole username of one user')
})
export type UserListQuery = Static<typeof UserListQuery>

const attributes = {
  email: needed('the primary email address'),
  password: needed('the password, at least 8 characters', 1024),
  username: needed('the name for paths and for signing in'),
  name: needed('the display name'),
  messenger: text('the user name on a messenger'),
  professional_network: text('the user name on a professional network'),
  microblog: text('the user name on a microblog'),
  website_url: text('the website'),
  organization: text('the employer'),
  projects_limit: Type.Optional(
    Integer('the number of projects that the user may own', { minimum: 0, maximum: 2147483647 })
  ),
  extern_uid: text('the id of the user at `provider`'),
  provider: text('an identity provider, such as `ldap`', 64),
  bio: text('a short biography'),
  location: text('where the user lives'),
  admin: flag('whether the user is an administrator'),
  can_create_group: flag('whether the user may create groups'),
  external: flag('true for an external user, who sees internal projects only as a member')
}

export const UserBody = Type.Object(
  {
    ...attributes,
    confirm: flag(
      'false: the user must confirm the email address by mail before signing in; default: it counts as confirmed'
    )
  },
  { title: 'UserBody', description: 'A new user.' }
)
export type UserBody = Static<typeof UserBody>

/** All attributes of a user that an administrator can change. */
export const UserChange = Type.Partial(Type.Object(attributes), {
  title: 'UserChange',
  description: 'The new attributes of a user: at least one.'
})
export type UserChange = Static<typeof UserChange>

const { bio, location, organization, website_url, messenger, professional_network, microblog } = UserChange.properties

/**
 * What users change of themselves, on their account page. Not specified: the API leaves all changes to administrators. Names for
 * paths, addresses, limits and rights are not among these.
 */
export const OwnProfile = Type.Object({
  // The rule refuses an empty name, and the form shows its words.
  name: text('the display name'),
  bio,
  location,
  organization,
  website_url,
  messenger,
  professional_network,
  microblog
})
export type OwnProfile = Static<typeof OwnProfile>
