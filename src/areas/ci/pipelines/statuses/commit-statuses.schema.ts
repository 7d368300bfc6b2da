import { Flag, Paging, projectParam, Text } from '../../../../lib/schema.js'
import { type Static, Type } from '../../../../lib/type.js'

const long = (description: string) => Text(description, { maxLength: 255 })

export const StatusParams = Type.Object({
  ...projectParam,
  sha: Text('the id of the commit', { minLength: 1, maxLength: 255 })
})

export const StatusListQuery = Type.Object({
  ...Paging,
  ref: Type.Optional(long('only statuses of this branch or tag')),
  stage: Type.Optional(long('only statuses of this stage; posted statuses have the stage `external`')),
  name: Type.Optional(long('only statuses with this name')),
  all: Type.Optional(Flag('true: include statuses that a later one with the same name replaces; default false'))
})

const POSTED = ['pending', 'running', 'success', 'failed', 'canceled'] as const
export type Posted = (typeof POSTED)[number]

export const StatusBody = Type.Object(
  {
    state: Type.Enum([...POSTED], { title: 'PostedStatus', description: 'the new state' }),
    ref: Type.Optional(long('the branch or tag; default the first branch that contains the commit')),
    name: Type.Optional(long('the name of the status, unique for the commit; default `default`')),
    context: Type.Optional(long('the same as `name`, which has precedence')),
    target_url: Type.Optional(Text('a URL with more information', { maxLength: 2000 })),
    description: Type.Optional(long('a short description'))
  },
  { title: 'CommitStatusBody', description: 'The status of a commit at an external service.' }
)

export type StatusBody = Static<typeof StatusBody>
export type StatusListQuery = Static<typeof StatusListQuery>
