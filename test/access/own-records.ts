// What a path names that belongs to one user: made anew for each asker, as others may not know of it.
import { addEmail } from '../../src/areas/users/emails.js'
import { someOrigin, type TestUser } from '../helpers/factory.js'

let count = 0

/** Parameters of `pattern` beside `:id` -> the number of a new record of this user. */
export async function ownRecord(pattern: string, user: TestUser): Promise<{ [parameter: string]: number }> {
  if (pattern.endsWith('/:email_id')) {
    const { id } = await addEmail(user, { email: `own-${++count}@example.com` }, someOrigin)
    return { ':email_id': id }
  }
  return {}
}
