// The record of a build that commands print. This file does not load TypeBox, which takes 0.1 s.
import type { NamedBuildRow } from './builds.queries.js'

export const viewBuildLine = (build: NamedBuildRow) => ({
  id: build.id,
  pipeline_id: build.pipeline_id,
  project_id: build.project_id,
  project: build.project,
  name: build.name,
  stage: build.stage,
  ref: build.ref,
  sha: build.sha,
  status: build.status,
  attempt: build.attempt,
  failure_reason: build.failure_reason,
  exit_code: build.exit_code,
  coverage: build.coverage,
  runner_id: build.runner_id,
  runner: build.runner_description,
  artifacts_size: build.artifacts_size,
  artifacts_expire_at: build.artifacts_expire_at,
  created_at: build.created_at,
  queued_at: build.queued_at,
  started_at: build.started_at,
  finished_at: build.finished_at,
  erased_at: build.erased_at,
  tag: build.tag === 1,
  when: build.start_when,
  allow_failure: build.allow_failure === 1,
  tag_list: JSON.parse(build.tag_list) as string[],
  user: build.user_username
})
