// "Trigger".
import { IdOf, Moment, Nullable, Text } from '../../lib/schema.js'
import { Type } from '../../lib/type.js'
import { decrypt } from '../../secrets.js'
import type { TriggerRow } from './triggers.queries.js'

export const Trigger = Type.Object(
  {
    token: Text('who knows it can start pipelines; empty when it cannot be shown any more'),
    created_at: Moment('when it was made'),
    updated_at: Moment('when it last changed'),
    deleted_at: Nullable(Moment('always null: a trigger that is deleted is gone')),
    last_used: Nullable(Moment('when it was last called; null before'))
  },
  { title: 'Trigger', description: 'Starts pipelines of a project for programs that have no account.' }
)

export const TriggerRequest = Type.Object(
  {
    id: IdOf('the request'),
    variables: Nullable(
      Type.Record(Type.String(), Type.String(), {
        description: 'what the builds get; null when the caller gave nothing'
      })
    )
  },
  { title: 'TriggerRequest', description: 'A call of a trigger.' }
)

export const viewTrigger = (row: TriggerRow) => ({
  token: tokenOf(row.token_encrypted),
  created_at: row.created_at,
  updated_at: row.updated_at,
  deleted_at: null,
  last_used: row.last_used_at
})

/** A token that was encrypted with another key must not hide the list. */
function tokenOf(box: Buffer): string {
  try {
    return decrypt(box)
  } catch {
    return ''
  }
}
