// The record "Broadcast message" of the specification.
import { Flag, IdOf, Moment, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import type { BroadcastRow } from './broadcasts.queries.js'

export const Broadcast = Type.Object(
  {
    id: IdOf('the message'),
    message: Text('the text that everybody sees'),
    starts_at: Moment('when the message appears'),
    ends_at: Moment('when the message disappears'),
    color: Text('the background color, such as `#E75E40`'),
    font: Text('the color of the text, such as `#FFFFFF`'),
    active: Flag('whether the message is shown now')
  },
  { title: 'BroadcastMessage', description: 'A message that everybody sees for a limited time.' }
)

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
