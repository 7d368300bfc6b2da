import { SCOPES } from '../../../access/scopes.js'
import { IdOf, Paging, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

const TOKEN_STATES = ['active', 'inactive'] as const
export type TokenState = (typeof TOKEN_STATES)[number]

export const TokenParams = Type.Object({ id: IdOf('the token') })

export const TokenListQuery = Type.Object({
  ...Paging,
  user_id: Type.Optional(IdOf('the user whose tokens are listed; other users than yourself only for administrators')),
  state: Type.Optional(
    Type.Enum(TOKEN_STATES, {
      title: 'PersonalAccessTokenState',
      description: 'only tokens in this state; inactive tokens are revoked or expired'
    })
  )
})
export type TokenListQuery = Static<typeof TokenListQuery>

export const TokenBody = Type.Object(
  {
    name: Text('a name for the token', { minLength: 1, maxLength: 255 }),
    scopes: Type.Optional(
      Type.Array(Type.Enum(SCOPES, { title: 'Scope', description: 'what a token gives access to' }), {
        minItems: 1,
        maxItems: 10,
        description: 'what it gives access to; default api'
      })
    ),
    expires_at: Type.Optional(
      Text('the day (UTC) at the beginning of which it expires, such as 2027-01-31', {
        pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'
      })
    )
  },
  { title: 'PersonalAccessTokenBody', description: 'A new personal access token.' }
)
export type TokenBody = Static<typeof TokenBody>
