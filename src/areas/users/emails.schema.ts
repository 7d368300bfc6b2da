import { type Static, Type } from 'typebox'
import { Id, userParam } from '../../lib/schema.js'

export const EmailParams = Type.Object({ email_id: Id })

export const UserEmailParams = Type.Object({ ...userParam, email_id: Id })

export const EmailBody = Type.Object({ email: Type.String({ minLength: 1, maxLength: 255 }) })
export type EmailBody = Static<typeof EmailBody>
