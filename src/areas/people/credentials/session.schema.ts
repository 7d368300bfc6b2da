import { Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'

export const SessionBody = Type.Object(
  {
    login: Type.Optional(Text('the username or the primary email address', { maxLength: 255 })),
    email: Type.Optional(Text('the same, used when `login` is absent', { maxLength: 255 })),
    password: Text('the password', { minLength: 1, maxLength: 1024 })
  },
  { title: 'SessionBody', description: 'A login or an email address, and the password.' }
)
