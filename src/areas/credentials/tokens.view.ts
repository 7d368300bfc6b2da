import { Flag, IdOf, Moment, Nullable, Text } from '../../lib/schema.js'
import { Type } from '../../lib/type.js'
import type { TokenRow } from './tokens.queries.js'
import { endOf, stateOf } from './tokens.state.js'

const record = {
  id: IdOf('the token'),
  name: Text('the name that its user gave it'),
  scopes: Type.Array(Type.String(), { description: 'what it opens: `api`, `read_user`' }),
  created_at: Moment('when it was made'),
  last_used_at: Nullable(Moment('when it was last used; null before its first use')),
  expires_at: Nullable(Text('the day (UTC) at whose beginning it ends; null for no end', { format: 'date' })),
  revoked: Flag('whether it was revoked'),
  active: Flag('whether it opens anything: neither revoked nor expired'),
  user_id: IdOf('its user')
}

export const Token = Type.Object(record, {
  title: 'PersonalAccessToken',
  description: 'A personal access token, without the token itself.'
})

/** Contains the token itself. Only the answer to its creation shows it. */
export const NewToken = Type.Object(
  { ...record, token: Text('the token itself, which is shown now and never again') },
  { title: 'NewPersonalAccessToken', description: 'A personal access token that was just made.' }
)

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
