import { IdOf, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import type { EmailRow } from './emails.queries.js'

export const Email = Type.Object(
  { id: IdOf('the address'), email: Text('the address') },
  { title: 'Email', description: 'A secondary email address of a user.' }
)

export const viewEmail = ({ id, email }: EmailRow) => ({ id, email })
