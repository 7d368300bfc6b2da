import { IdOf, Text, userParam } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

export const EmailParams = Type.Object({ email_id: IdOf('the address') })

export const UserEmailParams = Type.Object({ ...userParam, email_id: IdOf('the address') })

export const EmailBody = Type.Object(
  { email: Text('the address', { minLength: 1, maxLength: 255 }) },
  { title: 'EmailBody', description: 'A secondary email address.' }
)
export type EmailBody = Static<typeof EmailBody>
