import { Paging, PlainCharacters } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

const name = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 255, description }))
const word = (description: string) => Type.Optional(PlainCharacters(description, { minLength: 1, maxLength: 255 }))
const moment = (description: string) =>
  Type.Optional(
    Type.String({ minLength: 1, maxLength: 40, description: `${description}: an ISO 8601 date or date-time` })
  )

export const AuditListQuery = Type.Object({
  ...Paging,
  actor: name('the username of the person who made the change, or the system account that ran a command'),
  action: word('what was done, such as `user.block`'),
  target_type: word('the type of the changed record, such as `user`'),
  target_id: word('the id of the changed record'),
  provider: name(
    'only sign-ins with this provider: `password`, or a name in the section `identity` of the configuration'
  ),
  factor: name('only sign-ins with this second factor'),
  since: moment('only changes at or after this time'),
  until: moment('only changes before this time')
})
export type AuditListQuery = Static<typeof AuditListQuery>
