import { type Static, Type } from 'typebox'
import { Paging } from '../../lib/schema.js'

const name = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 255, description }))
const moment = (description: string) =>
  Type.Optional(
    Type.String({ minLength: 1, maxLength: 40, description: `${description}: an ISO 8601 date or date-time` })
  )

export const AuditListQuery = Type.Object({
  ...Paging,
  actor: name('the username of who made the change, or the account of the system that ran a command'),
  action: name('such as user.block'),
  target_type: name('such as user'),
  target_id: name('the number of the record that was changed'),
  since: moment('not before'),
  until: moment('before')
})
export type AuditListQuery = Static<typeof AuditListQuery>
