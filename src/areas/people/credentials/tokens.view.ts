import { Flag, IdOf, Moment, Nullable, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import type { TokenRow } from './tokens.queries.js'
import { endOf, stateOf } from './tokens.state.js'

const record = {
  id: IdOf('the token'),
  name: Text('the name of the token'),
  scopes: Type.Array(Type.String(), { description: 'what it gives access to: `api`, `read_user`' }),
  created_at: Moment('when it was created'),
  last_used_at: Nullable(Moment('when it was last used; null before its first use')),
  expires_at: Nullable(
    Text('the day (UTC) at the beginning of which it expires; null when it does not expire', { format: 'date' })
  ),
  revoked: Flag('whether it was revoked'),
  active: Flag('whether it works: it is neither revoked nor expired'),
  user_id: IdOf('its user')
}

export const Token = Type.Object(record, {
  title: 'PersonalAccessToken',
  description: 'A personal access token without its value.'
})

/** Contains the token itself. Only the response to its creation shows it. */
export const NewToken = Type.Object(
  { ...record, token: Text('the token itself, which is shown only now') },
  { title: 'NewPersonalAccessToken', description: 'A new personal access token with its value.' }
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
