import { Flag, IdOf, Paging, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { LONGEST_TEXT } from '../../../queue/search.js'

export const JobParams = Type.Object({ id: IdOf('the job') })

export const QueueParams = Type.Object({ queue: Text('the name of the queue', { maxLength: 32 }) })

const filters = {
  state: Type.Optional(
    Type.Enum(['ready', 'delayed', 'running', 'dead'], {
      title: 'BackgroundJobState',
      description: 'only jobs of that state'
    })
  ),
  queue: Type.Optional(Text('only jobs of the queue of that name', { maxLength: 32 }))
}

export const JobsQuery = Type.Object({
  ...Paging,
  ...filters
})
export type JobsQuery = Static<typeof JobsQuery>

export const JobSearchQuery = Type.Object({
  text: Type.Optional(
    Text('what the id, queue, name, state, payload or error contains, in any case; the first 4,000 characters count', {
      maxLength: LONGEST_TEXT
    })
  ),
  ...filters,
  oldest: Type.Optional(Flag('the oldest come first')),
  past: Type.Optional(IdOf('the job after which to go on: `next` of the answer before'))
})
export type JobSearchQuery = Static<typeof JobSearchQuery>

export const BuildParams = Type.Object({ id: IdOf('the build') })
