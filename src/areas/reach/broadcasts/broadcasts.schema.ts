import { IdOf, Paging, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

const text = (maxLength: number, description: string) => Type.Optional(Text(description, { maxLength }))

export const BroadcastParams = Type.Object({ id: IdOf('the message') })

export const BroadcastListQuery = Type.Object(Paging)

/** The body of a change. Times are texts here, so that a blank one is an error of the record, not of the parameter. */
export const BroadcastChange = Type.Object(
  {
    message: text(10_000, 'what everybody reads'),
    starts_at: text(64, 'when it appears, an ISO 8601 date-time; a new one appears at once without it'),
    ends_at: text(64, 'when it goes, an ISO 8601 date-time; a new one goes after an hour without it'),
    color: text(16, 'the color behind the text: `#` and 3 or 6 hex digits; a new one has `#E75E40` without it'),
    font: text(16, 'the color of the text; a new one has `#FFFFFF` without it')
  },
  { title: 'BroadcastMessageChange', description: 'What changes of a broadcast message.' }
)
export type BroadcastChange = Static<typeof BroadcastChange>

export const BroadcastBody = Type.Object(
  { ...BroadcastChange.properties, message: Text('what everybody reads', { maxLength: 10_000 }) },
  { title: 'BroadcastMessageBody', description: 'A new broadcast message.' }
)
export type BroadcastBody = Static<typeof BroadcastBody>
