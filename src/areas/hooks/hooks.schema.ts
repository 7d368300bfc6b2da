import { type Static, Type } from 'typebox'
import { Id } from '../../lib/schema.js'

const flag = Type.Optional(Type.Boolean())

export const HookParams = Type.Object({ id: Id })

export const HookBody = Type.Object({
  url: Type.String({ minLength: 1, maxLength: 2000 }),
  token: Type.Optional(Type.String({ maxLength: 500 })),
  push_events: flag,
  tag_push_events: flag,
  note_events: flag,
  issues_events: flag,
  merge_requests_events: flag,
  enable_ssl_verification: flag
})
export type HookBody = Static<typeof HookBody>
