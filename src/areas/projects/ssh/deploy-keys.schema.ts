import { Flag, IdOf, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

export const DeployKeyParams = Type.Object({ ...projectParam, key_id: IdOf('the deploy key') })

/** Both texts are required, but the rule checks them, because it reports errors by attribute ("Deploy keys"). */
export const DeployKeyBody = Type.Object(
  {
    title: Type.Optional(Text('a name for the key; required', { maxLength: 20_000 })),
    /** Higher than the limit for public keys, so that a private key, which is longer, gets its own error message. */
    key: Type.Optional(Text('the public key, one line as in `authorized_keys`; required', { maxLength: 20_000 })),
    can_push: Type.Optional(Flag('whether the key may push; default false'))
  },
  { title: 'DeployKeyBody', description: 'A key that gives access to the repository of a project.' }
)
export type DeployKeyBody = Static<typeof DeployKeyBody>
