// "Pipeline".
import { Type } from 'typebox'
import { DateTime, Nullable } from '../../lib/schema.js'
import { viewUserBasic } from '../users/users.record.js'
import { UserBasic } from '../users/users.view.js'
import type { PipelineRow } from './pipelines.queries.js'

export const Pipeline = Type.Object({
  id: Type.Integer(),
  status: Type.String(),
  ref: Type.String(),
  sha: Type.String(),
  before_sha: Type.String(),
  tag: Type.Boolean(),
  yaml_errors: Nullable(Type.String()),
  user: Nullable(UserBasic),
  created_at: DateTime,
  updated_at: DateTime,
  started_at: Nullable(DateTime),
  finished_at: Nullable(DateTime),
  committed_at: Nullable(DateTime),
  duration: Nullable(Type.Number()),
  coverage: Nullable(Type.String())
})

export const viewPipeline = (row: PipelineRow) => ({
  id: row.id,
  status: row.status,
  ref: row.ref,
  sha: row.sha,
  before_sha: row.before_sha,
  tag: row.tag === 1,
  yaml_errors: row.yaml_errors,
  user:
    row.user_id === null || row.user_name === null
      ? null
      : viewUserBasic({
          id: row.user_id,
          name: row.user_name,
          username: row.user_username ?? '',
          state: row.user_state === 'blocked' ? 'blocked' : 'active'
        }),
  created_at: row.created_at,
  updated_at: row.updated_at,
  started_at: row.started_at,
  finished_at: row.finished_at,
  committed_at: row.committed_at,
  duration: row.duration,
  coverage: null
})
