import { IdOf, Paging, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

const text = (maxLength: number, description: string) => Type.Optional(Text(description, { maxLength }))

export const BroadcastParams = Type.Object({ id: IdOf('the message') })

export const BroadcastListQuery = Type.Object(Paging)

/** The body of a change. Times are texts here, so that a blank time is an error of the record, not of the parameter. */
export const BroadcastChange = Type.Object(
  {
    message: text(10_000, 'the text that everybody sees'),
    starts_at: text(64, 'when the message appears, an ISO 8601 date-time; default: now'),
    ends_at: text(64, 'when the message disappears, an ISO 8601 date-time; default: in an hour'),
    color: text(16, 'the background color: `#` and 3 or 6 hex digits; default: `#E75E40`'),
    font: text(16, 'the color of the text; default: `#FFFFFF`')
  },
  { title: 'BroadcastMessageChange', description: 'Changes to a broadcast message.' }
)
export type BroadcastChange = Static<typeof BroadcastChange>

export const BroadcastBody = Type.Object(
  { ...BroadcastChange.properties, message: Text('the text that everybody sees', { maxLength: 10_000 }) },
  { title: 'BroadcastMessageBody', description: 'A new broadcast message.' }
)
export type BroadcastBody = Static<typeof BroadcastBody>
