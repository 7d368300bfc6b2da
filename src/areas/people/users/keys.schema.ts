import { IdOf, Text, userParam } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

export const KeyParams = Type.Object({ key_id: IdOf('the key') })

export const UserKeyParams = Type.Object({ ...userParam, key_id: IdOf('the key') })

export const AnyKeyParams = Type.Object({ id: IdOf('the key') })

export const KeyBody = Type.Object(
  {
    title: Text('a name for the key', { minLength: 1, maxLength: 255 }),
    /** Higher than the limit for public keys, so that a private key, which is longer, gets its own error message. */
    key: Text('the public key, one line as in `authorized_keys`', { minLength: 1, maxLength: 20_000 })
  },
  { title: 'KeyBody', description: 'A new SSH key.' }
)
export type KeyBody = Static<typeof KeyBody>
