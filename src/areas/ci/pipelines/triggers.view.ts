// "Trigger".
import { IdOf, Moment, Nullable, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { decryptNamed } from '../../../secrets.js'
import type { TriggerRow } from './triggers.queries.js'

export const Trigger = Type.Object(
  {
    token: Text('the token, with which anyone can start pipelines; empty when it can no longer be decrypted'),
    created_at: Moment('when it was created'),
    updated_at: Moment('when it last changed'),
    deleted_at: Nullable(Moment('always null, because deleted triggers are not kept')),
    last_used: Nullable(Moment('when it was last called; null before the first call'))
  },
  { title: 'Trigger', description: 'Starts pipelines of a project for programs that have no account.' }
)

export const TriggerRequest = Type.Object(
  {
    id: IdOf('the request'),
    variables: Nullable(
      Type.Record(Type.String(), Type.String(), {
        description: 'the variables of the builds; null without variables'
      })
    )
  },
  { title: 'TriggerRequest', description: 'A call of a trigger.' }
)

/** Shows a trigger whose token the caller knows, or decrypts it. Throws Undecryptable. */
export const viewTrigger = (row: TriggerRow, token?: string) => ({
  token: token ?? decryptNamed(`trigger ${row.id}`, row.token_encrypted),
  created_at: row.created_at,
  updated_at: row.updated_at,
  deleted_at: null,
  last_used: row.last_used_at
})
