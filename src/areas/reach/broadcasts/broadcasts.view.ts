// The record "Broadcast message" of the requirement.
import { Flag, IdOf, Moment, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import type { BroadcastRow } from './broadcasts.queries.js'

export const Broadcast = Type.Object(
  {
    id: IdOf('the message'),
    message: Text('what everybody reads'),
    starts_at: Moment('when it appears'),
    ends_at: Moment('when it goes'),
    color: Text('the color behind the text, such as `#E75E40`'),
    font: Text('the color of the text, such as `#FFFFFF`'),
    active: Flag('whether it is shown now')
  },
  { title: 'BroadcastMessage', description: 'A message that everybody sees for some time.' }
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
