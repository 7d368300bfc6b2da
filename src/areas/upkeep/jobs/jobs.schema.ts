import { Flag, IdOf, Paging, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { LONGEST_TEXT } from '../../../queue/search.js'

export const JobParams = Type.Object({ id: IdOf('the job') })

export const QueueParams = Type.Object({ queue: Text('the name of the queue', { maxLength: 32 }) })

const filters = {
  state: Type.Optional(
    Type.Enum(['ready', 'delayed', 'running', 'dead'], {
      title: 'BackgroundJobState',
      description: 'only jobs in this state'
    })
  ),
  queue: Type.Optional(Text('only jobs of this queue', { maxLength: 32 }))
}

export const JobsQuery = Type.Object({
  ...Paging,
  ...filters
})
export type JobsQuery = Static<typeof JobsQuery>

export const JobSearchQuery = Type.Object({
  text: Type.Optional(
    Text(
      'text in the id, queue, name, state, payload or error, in any case; only the first 4,000 characters of each are searched',
      {
        maxLength: LONGEST_TEXT
      }
    )
  ),
  ...filters,
  oldest: Type.Optional(Flag('oldest first')),
  past: Type.Optional(IdOf('the job after which to continue: `next` of the previous response'))
})
export type JobSearchQuery = Static<typeof JobSearchQuery>

export const BuildParams = Type.Object({ id: IdOf('the build') })
