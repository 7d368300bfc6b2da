import { Type } from 'typebox'
import { Id, Paging, projectParam } from '../../lib/schema.js'

export const PipelineParams = Type.Object({ ...projectParam, pipeline_id: Id })

export const PipelineListQuery = Type.Object({
  ...Paging,
  scope: Type.Optional(Type.Enum(['running', 'branches', 'tags']))
})
