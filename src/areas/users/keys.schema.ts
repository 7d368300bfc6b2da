import { type Static, Type } from 'typebox'
import { Id, userParam } from '../../lib/schema.js'

export const KeyParams = Type.Object({ key_id: Id })

export const UserKeyParams = Type.Object({ ...userParam, key_id: Id })

export const AnyKeyParams = Type.Object({ id: Id })

export const KeyBody = Type.Object({
  title: Type.String({ minLength: 1, maxLength: 255 }),
  /** Longer than a key may be: a private one, which is longer, is to be told as what it is. */
  key: Type.String({ minLength: 1, maxLength: 20_000 })
})
export type KeyBody = Static<typeof KeyBody>
