// "Broadcast message".
import { type Static, Type } from 'typebox'
import { DateTime } from '../../lib/schema.js'
import type { BroadcastRow } from './broadcasts.queries.js'

export const Broadcast = Type.Object({
  id: Type.Integer(),
  message: Type.String(),
  starts_at: DateTime,
  ends_at: DateTime,
  color: Type.String(),
  font: Type.String(),
  active: Type.Boolean()
})

export const viewBroadcast = (
  { id, message, starts_at, ends_at, color, font }: BroadcastRow,
  now = new Date()
): Static<typeof Broadcast> => ({
  id,
  message,
  starts_at,
  ends_at,
  color,
  font,
  active: starts_at <= now && now <= ends_at
})
