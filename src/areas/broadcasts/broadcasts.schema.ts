import { type Static, Type } from 'typebox'
import { Id, Paging } from '../../lib/schema.js'

const text = (maxLength: number) => Type.Optional(Type.String({ maxLength }))

export const BroadcastParams = Type.Object({ id: Id })

export const BroadcastListQuery = Type.Object(Paging)

/** What a change may hold. Times are texts here: a blank one is refused as the record's, not as the parameter's. */
export const BroadcastChange = Type.Object({
  message: text(10_000),
  starts_at: text(64),
  ends_at: text(64),
  color: text(16),
  font: text(16)
})
export type BroadcastChange = Static<typeof BroadcastChange>

export const BroadcastBody = Type.Object({
  ...BroadcastChange.properties,
  message: Type.String({ maxLength: 10_000 })
})
export type BroadcastBody = Static<typeof BroadcastBody>
