import { type Static, Type } from 'typebox'
import { Id } from '../../lib/schema.js'

export const EmailParams = Type.Object({ email_id: Id })

/** The user's number is text, as what is no number is answered like the number of nobody. */
export const UserEmailParams = Type.Object({ id: Type.String({ maxLength: 255 }), email_id: Id })

export const EmailBody = Type.Object({ email: Type.String({ minLength: 1, maxLength: 255 }) })
export type EmailBody = Static<typeof EmailBody>
