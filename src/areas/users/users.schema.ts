import { type Static, Type } from 'typebox'
import { Paging } from '../../lib/schema.js'

const text = (maxLength = 255) => Type.Optional(Type.String({ maxLength }))

export const UserListQuery = Type.Object({
  ...Paging,
  active: Type.Optional(Type.Boolean()),
  blocked: Type.Optional(Type.Boolean()),
  external: Type.Optional(Type.Boolean()),
  search: text(),
  username: text()
})
export type UserListQuery = Static<typeof UserListQuery>

export const UserBody = Type.Object({
  email: Type.String({ minLength: 1, maxLength: 255 }),
  password: Type.String({ minLength: 1, maxLength: 1024 }),
  username: Type.String({ minLength: 1, maxLength: 255 }),
  name: Type.String({ minLength: 1, maxLength: 255 }),
  messenger: text(),
  professional_network: text(),
  microblog: text(),
  website_url: text(),
  organization: text(),
  projects_limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 2147483647 })),
  extern_uid: text(),
  provider: text(64),
  bio: text(),
  location: text(),
  admin: Type.Optional(Type.Boolean()),
  can_create_group: Type.Optional(Type.Boolean()),
  confirm: Type.Optional(Type.Boolean()),
  external: Type.Optional(Type.Boolean())
})
export type UserBody = Static<typeof UserBody>

const { confirm: _confirm, ...changeable } = UserBody.properties

/** All that an administrator may change of a user. */
export const UserChange = Type.Partial(Type.Object(changeable))
export type UserChange = Static<typeof UserChange>
