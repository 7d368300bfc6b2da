import { Type } from 'typebox'
import type { EmailRow } from './emails.queries.js'

export const Email = Type.Object({ id: Type.Integer(), email: Type.String() })

export const viewEmail = ({ id, email }: EmailRow) => ({ id, email })
