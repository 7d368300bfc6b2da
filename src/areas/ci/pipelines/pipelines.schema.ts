import { IdOf, Paging, projectParam, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'

export const PipelineParams = Type.Object({ ...projectParam, pipeline_id: IdOf('the pipeline') })

export const PipelineBody = Type.Object(
  { ref: Text('the branch or tag', { minLength: 1, maxLength: 255 }) },
  { title: 'PipelineBody', description: 'A new pipeline.' }
)

export const PipelineListQuery = Type.Object({
  ...Paging,
  scope: Type.Optional(
    Type.Enum(['running', 'branches', 'tags'], {
      title: 'PipelineScope',
      description: 'only running pipelines, or the newest one of each branch or tag'
    })
  )
})
