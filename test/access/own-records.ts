// What a path names that belongs to one user: made anew for each asker, as others may not know of it.

import { createToken } from '../../src/areas/credentials/tokens.js'
import { addEmail } from '../../src/areas/users/emails.js'
import { addKey } from '../../src/areas/users/keys.js'
import { someOrigin, type TestUser } from '../helpers/factory.js'
import { newKey } from '../helpers/ssh-keys.js'

let count = 0

/** Parameters of `pattern` beside `:id` -> the number of a new record of this user. */
export async function ownRecord(pattern: string, user: TestUser): Promise<{ [parameter: string]: number }> {
  if (pattern.endsWith('/:email_id')) {
    const { id } = await addEmail(user, { email: `own-${++count}@example.com` }, someOrigin)
    return { ':email_id': id }
  }
  if (pattern.endsWith('/:key_id') || pattern.endsWith('/keys/:id')) {
    const { id } = await addKey(user, { title: 'own', key: newKey() }, someOrigin)
    return { ':key_id': id, ...(pattern.endsWith('/:id') ? { ':id': id } : {}) }
  }
  if (pattern.endsWith('/personal_access_tokens/:id')) {
    const { row } = await createToken(user, { name: 'own' }, { ...someOrigin, via: 'command' })
    return { ':id': row.id }
  }
  return {}
}
