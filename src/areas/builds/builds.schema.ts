import { type Static, Type } from 'typebox'
import { buildStatuses } from '../../ci/status.js'
import { Id, Paging, projectParam } from '../../lib/schema.js'

export const BuildParams = Type.Object({ ...projectParam, build_id: Id })
export const CommitParams = Type.Object({ ...projectParam, sha: Type.String({ minLength: 1, maxLength: 255 }) })
export const RefParams = Type.Object({ ...projectParam, ref_name: Type.String({ minLength: 1, maxLength: 255 }) })

export const BuildListQuery = Type.Object({
  ...Paging,
  scope: Type.Optional(Type.Array(Type.Enum([...buildStatuses]), { maxItems: buildStatuses.length }))
})
export type BuildListQuery = Static<typeof BuildListQuery>

export const JobQuery = Type.Object({ job: Type.String({ minLength: 1, maxLength: 255 }) })
