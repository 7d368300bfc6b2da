import { type Static, Type } from 'typebox'
import { buildStatuses } from '../../ci/status.js'
import { Id, Paging } from '../../lib/schema.js'

const project = { id: Type.String({ minLength: 1, maxLength: 600 }) }

export const ProjectParams = Type.Object(project)
export const BuildParams = Type.Object({ ...project, build_id: Id })
export const PipelineParams = Type.Object({ ...project, pipeline_id: Id })
export const CommitParams = Type.Object({ ...project, sha: Type.String({ minLength: 1, maxLength: 255 }) })
export const RefParams = Type.Object({ ...project, ref_name: Type.String({ minLength: 1, maxLength: 255 }) })

export const BuildListQuery = Type.Object({
  ...Paging,
  scope: Type.Optional(Type.Array(Type.Enum([...buildStatuses]), { maxItems: buildStatuses.length }))
})
export type BuildListQuery = Static<typeof BuildListQuery>

export const PipelineListQuery = Type.Object({
  ...Paging,
  scope: Type.Optional(Type.Enum(['running', 'branches', 'tags']))
})

export const JobQuery = Type.Object({ job: Type.String({ minLength: 1, maxLength: 255 }) })
