import { Type } from 'typebox'
import { DateTime, Nullable } from '../../lib/schema.js'
import { endOf, stateOf, type TokenRow } from './tokens.queries.js'

const record = {
  id: Type.Integer(),
  name: Type.String(),
  scopes: Type.Array(Type.String()),
  created_at: DateTime,
  last_used_at: Nullable(DateTime),
  expires_at: Nullable(Type.String({ format: 'date' })),
  revoked: Type.Boolean(),
  active: Type.Boolean(),
  user_id: Type.Integer()
}

export const Token = Type.Object(record)

/** With the token itself: once, when it is made. */
export const NewToken = Type.Object({ ...record, token: Type.String() })

export const viewToken = (row: TokenRow) => ({
  id: row.id,
  name: row.name,
  scopes: row.scopes.split(' ').filter(scope => scope !== ''),
  created_at: row.created_at,
  last_used_at: row.last_used_at,
  expires_at: endOf(row),
  revoked: row.revoked_at !== null,
  active: stateOf(row) === 'active',
  user_id: row.user_id
})

export const viewNewToken = ({ row, token }: { row: TokenRow; token: string }) => ({ ...viewToken(row), token })
