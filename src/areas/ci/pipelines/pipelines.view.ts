// "Pipeline".
import { BUILD_STATUSES } from '../../../ci/status.js'
import { described, Flag, IdOf, Moment, Nullable, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { viewJoinedUser } from '../../people/users/joined-user.js'
import { UserBasic } from '../../people/users/users.view.js'
import type { PipelineRow } from './pipelines.queries.js'

export const BuildStatus = Type.Unsafe<string>({
  type: 'string',
  enum: [...BUILD_STATUSES],
  title: 'BuildStatus'
})

export const Pipeline = Type.Object(
  {
    id: IdOf('the pipeline'),
    status: described(BuildStatus, 'the combined status of its builds'),
    ref: Text('the branch or tag'),
    sha: Text('the id of the commit'),
    before_sha: Text('the previous commit id of the ref; zeros for a new ref'),
    tag: Flag('whether the ref is a tag'),
    yaml_errors: Nullable(Text('the errors of the CI file; null without errors')),
    user: Nullable(described(UserBasic, 'the user who pushed; null when the user was deleted')),
    created_at: Moment('when it was created'),
    updated_at: Moment('when it last changed'),
    started_at: Nullable(Moment('when its first build started')),
    finished_at: Nullable(Moment('when its last build ended')),
    committed_at: Nullable(Moment('when its commit was created')),
    duration: Nullable(Type.Number({ description: 'the running time in seconds' })),
    coverage: Nullable(Text('the test coverage in percent'))
  },
  { title: 'Pipeline', description: 'A run of the CI file for one commit.' }
)

export const viewPipeline = (row: PipelineRow) => ({
  id: row.id,
  status: row.status,
  ref: row.ref,
  sha: row.sha,
  before_sha: row.before_sha,
  tag: row.tag === 1,
  yaml_errors: row.yaml_errors,
  user: viewJoinedUser(row),
  created_at: row.created_at,
  updated_at: row.updated_at,
  started_at: row.started_at,
  finished_at: row.finished_at,
  committed_at: row.committed_at,
  duration: row.duration,
  coverage: row.coverage === null ? null : row.coverage.toFixed(2)
})
