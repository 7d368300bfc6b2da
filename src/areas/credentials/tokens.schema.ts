import { type Static, Type } from 'typebox'
import { SCOPES } from '../../access/scopes.js'
import { Id, Paging } from '../../lib/schema.js'

export const TOKEN_STATES = ['active', 'inactive'] as const
export type TokenState = (typeof TOKEN_STATES)[number]

export const TokenParams = Type.Object({ id: Id })

export const TokenListQuery = Type.Object({
  ...Paging,
  user_id: Type.Optional(Id),
  state: Type.Optional(Type.Enum(TOKEN_STATES, { description: 'inactive ones are revoked or expired' }))
})
export type TokenListQuery = Static<typeof TokenListQuery>

export const TokenBody = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  scopes: Type.Optional(Type.Array(Type.Enum(SCOPES), { minItems: 1, maxItems: 10, description: 'default api' })),
  expires_at: Type.Optional(
    Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$', description: 'the day (UTC) at whose beginning it ends' })
  )
})
export type TokenBody = Static<typeof TokenBody>
