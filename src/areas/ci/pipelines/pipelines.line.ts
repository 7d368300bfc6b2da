// The record of a pipeline that commands print. This file does not load TypeBox, which takes 0.1 s.
import type { PipelineRow } from './pipelines.queries.js'

export const viewPipelineLine = (pipeline: PipelineRow) => ({
  id: pipeline.id,
  project_id: pipeline.project_id,
  project: pipeline.project,
  ref: pipeline.ref,
  sha: pipeline.sha,
  status: pipeline.status,
  source: pipeline.source,
  yaml_errors: pipeline.yaml_errors,
  duration: pipeline.duration,
  created_at: pipeline.created_at,
  started_at: pipeline.started_at,
  finished_at: pipeline.finished_at,
  tag: pipeline.tag === 1,
  user: pipeline.user_username
})
