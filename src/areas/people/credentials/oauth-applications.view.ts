// Not specified: the record of an application.
import { Flag, IdOf, Moment, Nullable, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import type { ApplicationRow } from './oauth-applications.queries.js'

const record = {
  id: IdOf('the application'),
  application_id: Text('the `client_id` of the application'),
  application_name: Text('its name'),
  callback_url: Text('where users are sent with the code; several URIs are separated by line feeds'),
  scopes: Type.Array(Type.String(), { description: 'the scopes that its tokens may have' }),
  confidential: Flag('whether it can keep a secret; otherwise it must use PKCE'),
  user_id: Nullable(IdOf('the user who registered it; null for an application of the instance')),
  created_at: Moment('when it was registered')
}

export const Application = Type.Object(record, {
  title: 'Application',
  description: 'An OAuth application without its secret.'
})

/** Contains the secret. Only the response to the registration shows it. */
export const NewApplication = Type.Object(
  { ...record, secret: Text('the `client_secret`, which is shown only now') },
  { title: 'NewApplication', description: 'A new OAuth application with its secret.' }
)

export const viewApplication = (row: ApplicationRow) => ({
  id: row.id,
  application_id: row.uid,
  application_name: row.name,
  callback_url: row.redirect_uris,
  scopes: row.scopes.split(' ').filter(scope => scope !== ''),
  confidential: row.confidential === 1,
  user_id: row.user_id,
  created_at: row.created_at
})

export const viewNewApplication = ({ row, secret }: { row: ApplicationRow; secret: string }) => ({
  ...viewApplication(row),
  secret
})
