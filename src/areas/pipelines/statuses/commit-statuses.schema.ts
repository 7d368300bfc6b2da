import { Flag, Paging, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

const long = (description: string) => Text(description, { maxLength: 255 })

export const StatusParams = Type.Object({
  ...projectParam,
  sha: Text('the id of the commit', { minLength: 1, maxLength: 255 })
})

export const StatusListQuery = Type.Object({
  ...Paging,
  ref: Type.Optional(long('only those of this branch or tag')),
  stage: Type.Optional(long('only those of this stage; what is posted has the stage `external`')),
  name: Type.Optional(long('only those with this name')),
  all: Type.Optional(Flag('true: also those that a later one of the same name replaces; default false'))
})

export const POSTED = ['pending', 'running', 'success', 'failed', 'canceled'] as const
export type Posted = (typeof POSTED)[number]

export const StatusBody = Type.Object(
  {
    state: Type.Enum([...POSTED], { title: 'PostedStatus', description: 'what becomes of the status' }),
    ref: Type.Optional(long('the branch or tag; default the first branch that contains the commit')),
    name: Type.Optional(long('what tells this status from others of the commit; default `default`')),
    context: Type.Optional(long('the same as `name`, which comes first')),
    target_url: Type.Optional(Text('where to read more', { maxLength: 2000 })),
    description: Type.Optional(long('a few words about it'))
  },
  { title: 'CommitStatusBody', description: 'What a service says about a commit.' }
)

export type StatusBody = Static<typeof StatusBody>
export type StatusListQuery = Static<typeof StatusListQuery>
