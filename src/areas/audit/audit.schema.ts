import { Paging, PlainCharacters } from '../../lib/schema.js'
import { type Static, Type } from '../../lib/type.js'

const name = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 255, description }))
const word = (description: string) => Type.Optional(PlainCharacters(description, { minLength: 1, maxLength: 255 }))
const moment = (description: string) =>
  Type.Optional(
    Type.String({ minLength: 1, maxLength: 40, description: `${description}: an ISO 8601 date or date-time` })
  )

export const AuditListQuery = Type.Object({
  ...Paging,
  actor: name('the username of who made the change, or the account of the system that ran a command'),
  action: word('what was done, such as `user.block`'),
  target_type: word('the kind of the record that was changed, such as `user`'),
  target_id: word('the id of the record that was changed'),
  since: moment('only changes from then on'),
  until: moment('only changes before then')
})
export type AuditListQuery = Static<typeof AuditListQuery>
