import { BUILD_STATUSES } from '../../../ci/status.js'
import { IdOf, Paging, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { BuildStatus } from '../pipelines/pipelines.view.js'

export const BuildParams = Type.Object({ ...projectParam, build_id: IdOf('the build') })
export const CommitParams = Type.Object({
  ...projectParam,
  sha: Text('the id of a commit, a branch or a tag', { minLength: 1, maxLength: 255 })
})
export const RefParams = Type.Object({
  ...projectParam,
  ref_name: Text('a branch or tag', { minLength: 1, maxLength: 255 })
})

export const BuildListQuery = Type.Object({
  ...Paging,
  scope: Type.Optional(
    Type.Array(BuildStatus, {
      maxItems: BUILD_STATUSES.length,
      description: 'only builds with these statuses'
    })
  )
})
export type BuildListQuery = Static<typeof BuildListQuery>

export const JobQuery = Type.Object({ job: Text('the name of the build', { minLength: 1, maxLength: 255 }) })
