import { type Static, Type } from 'typebox'
import { IdOf, Paging, Text } from '../../lib/schema.js'

export const JobParams = Type.Object({ id: IdOf('the job') })

export const QueueParams = Type.Object({ queue: Text('the name of the queue', { maxLength: 32 }) })

export const JobsQuery = Type.Object({
  ...Paging,
  state: Type.Optional(
    Type.Enum(['ready', 'delayed', 'running', 'dead'], {
      title: 'BackgroundJobState',
      description: 'only jobs of that state'
    })
  ),
  queue: Type.Optional(Text('only jobs of the queue of that name', { maxLength: 32 }))
})
export type JobsQuery = Static<typeof JobsQuery>
