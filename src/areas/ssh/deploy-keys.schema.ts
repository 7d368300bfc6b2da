import { Flag, IdOf, projectParam, Text } from '../../lib/schema.js'
import { type Static, Type } from '../../lib/type.js'

export const DeployKeyParams = Type.Object({ ...projectParam, key_id: IdOf('the deploy key') })

/** Both texts are required, but what misses is told by attribute ("Deploy keys"), so the rule looks. */
export const DeployKeyBody = Type.Object(
  {
    title: Type.Optional(Text('a name for the key; required', { maxLength: 20_000 })),
    /** Longer than the limit for public keys, so that a private key, which is longer, gets its own error message. */
    key: Type.Optional(Text('the public key, one line as in `authorized_keys`; required', { maxLength: 20_000 })),
    can_push: Type.Optional(Flag('whether the key may push; default false'))
  },
  { title: 'DeployKeyBody', description: 'A key that opens the repository of a project.' }
)
export type DeployKeyBody = Static<typeof DeployKeyBody>
