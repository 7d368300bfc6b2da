import { type Static, Type } from 'typebox'
import { Id, Paging } from '../../lib/schema.js'

export const JobParams = Type.Object({ id: Id })

export const QueueParams = Type.Object({ queue: Type.String({ maxLength: 32 }) })

export const JobsQuery = Type.Object({
  ...Paging,
  state: Type.Optional(Type.Enum(['ready', 'delayed', 'running', 'dead'])),
  queue: Type.Optional(Type.String({ maxLength: 32 }))
})
export type JobsQuery = Static<typeof JobsQuery>
