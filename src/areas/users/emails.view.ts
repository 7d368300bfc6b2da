import { IdOf, Text } from '../../lib/schema.js'
import { Type } from '../../lib/type.js'
import type { EmailRow } from './emails.queries.js'

export const Email = Type.Object(
  { id: IdOf('the address'), email: Text('the address') },
  { title: 'Email', description: 'An email address of a user beside the primary one.' }
)

export const viewEmail = ({ id, email }: EmailRow) => ({ id, email })
