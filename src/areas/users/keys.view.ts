import { type Static, Type } from 'typebox'
import { DateTime } from '../../lib/schema.js'
import type { KeyRow, OwnedKeyRow } from './keys.queries.js'
import type { UserRow } from './users.queries.js'
import { viewAccount } from './users.record.js'
import { Account } from './users.view.js'

const record = {
  id: Type.Integer(),
  title: Type.String(),
  key: Type.String(),
  created_at: DateTime,
  can_push: Type.Boolean()
}

export const Key = Type.Object(record)

/** The body is empty where nothing was deleted. */
export const KeyOrNothing = Type.Unsafe<Static<typeof Key> | undefined>(Key)

export const KeyWithUser = Type.Object({ ...record, user: Account })

export const viewKey = (row: KeyRow) => ({
  id: row.id,
  title: row.title,
  key: row.public_key,
  created_at: row.created_at,
  // Of deploy keys; a user's key may what its user may.
  can_push: false
})

export const viewKeyWithUser = (row: KeyRow, user: UserRow) => ({ ...viewKey(row), user: viewAccount(user) })

/** For the command line: whose it is, what `ssh-keygen -l` calls it, and its last use. */
export const viewKeyInList = (row: OwnedKeyRow) => ({
  ...viewKey(row),
  fingerprint: `SHA256:${row.fingerprint}`,
  last_used_at: row.last_used_at,
  user_id: row.user_id,
  username: row.username
})
