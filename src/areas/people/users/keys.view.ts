import { described, Flag, IdOf, Moment, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import type { KeyRow, OwnedKeyRow } from './keys.queries.js'
import type { UserRow } from './users.queries.js'
import { viewAccount } from './users.record.js'
import { Account } from './users.view.js'

const record = {
  id: IdOf('the key'),
  title: Text('the name of the key'),
  key: Text('the public key, one line as in `authorized_keys`'),
  created_at: Moment('when it was added'),
  can_push: Flag('whether a deploy key may push; false for keys of users')
}

export const Key = Type.Object(record, { title: 'Key', description: 'An SSH key.' })

/** The body is empty when no key was deleted. */
export const KeyOrNothing = Type.Unsafe<Static<typeof Key> | undefined>(Key)

export const KeyWithUser = Type.Object(
  { ...record, user: described(Account, 'the user who has the key') },
  { title: 'KeyWithUser', description: 'An SSH key with its user.' }
)

export const viewKey = (row: KeyRow) => ({
  id: row.id,
  title: row.title,
  key: row.public_key,
  created_at: row.created_at,
  // Only deploy keys use this. A user's key has the rights of the user.
  can_push: false
})

export const viewKeyWithUser = (row: KeyRow, user: UserRow) => ({ ...viewKey(row), user: viewAccount(user) })

/** Returns the view for the command line, with the user, the fingerprint as in `ssh-keygen -l` and the last use. */
export const viewKeyInList = (row: OwnedKeyRow) => ({
  ...viewKey(row),
  fingerprint: `SHA256:${row.fingerprint}`,
  last_used_at: row.last_used_at,
  user_id: row.user_id,
  username: row.username
})
