import { Flag, IdOf, Integer, Paging, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

export const RunnerParams = Type.Object({ id: IdOf('the runner') })
export const ProjectRunnerParams = Type.Object({ ...projectParam, runner_id: IdOf('the runner') })

export type RunnerScope = 'active' | 'paused' | 'online' | 'specific' | 'shared'

const scope = Type.Enum(['active', 'paused', 'online'], {
  title: 'RunnerScope',
  description: 'only active runners, only paused runners, or only runners with a contact within the last hour'
})
export const RunnerListQuery = Type.Object({ ...Paging, scope: Type.Optional(scope) })

export const AllRunnersQuery = Type.Object({
  ...Paging,
  scope: Type.Optional(
    Type.Enum(['specific', 'shared', 'active', 'paused', 'online'], {
      title: 'AllRunnersScope',
      description: 'only project runners, only shared runners, or as in the other lists'
    })
  )
})

export const RunnerChange = Type.Object(
  {
    description: Type.Optional(Text('the display name', { maxLength: 255 })),
    active: Type.Optional(Flag('whether it takes builds; false pauses it')),
    tag_list: Type.Optional(Type.Array(Type.String(), { maxItems: 200, description: 'all tags' })),
    run_untagged: Type.Optional(Flag('whether it takes builds without tags')),
    locked: Type.Optional(Flag('true: no further projects can use it'))
  },
  { title: 'RunnerChange', description: 'The new attributes of a runner; absent ones stay.' }
)
export type RunnerChange = Static<typeof RunnerChange>

export const EnableRunner = Type.Object(
  { runner_id: Integer('the id of a runner of another project') },
  { title: 'EnableRunner', description: 'The runner to enable.' }
)
