// Makes the payloads of project hooks for builds and pipelines.
import {
  commit,
  dateTime,
  type PayloadCommit,
  type PayloadProject,
  type PayloadUser,
  plainProject,
  repository,
  user
} from './payloads.js'

interface Timed {
  startedAt: Date | null
  finishedAt: Date | null
}

export interface PayloadBuild extends Timed {
  id: number
  name: string
  stage: string
  status: string
  ref: string
  tag: boolean
  beforeSha: string
  sha: string
  /** Seconds; null before the build has started. */
  duration: number | null
  allowFailure: boolean
  /** The user who started the build; null when nobody did, such as for a trigger. */
  user: PayloadUser | null
  project: PayloadProject
  /** The names of namespace and project for people, such as `Some Group / Some Project`. */
  projectName: string
  pipeline: Timed & { id: number; status: string; duration: number | null }
  commit: { message: string | null; authorName: string | null; authorEmail: string | null }
}

export interface PayloadPipeline {
  id: number
  ref: string
  tag: boolean
  sha: string
  beforeSha: string
  status: string
  /** The names of the stages, in order. */
  stages: string[]
  createdAt: Date
  finishedAt: Date | null
  duration: number | null
  user: PayloadUser | null
  project: PayloadProject
  commit: PayloadCommit
  builds: PayloadPipelineBuild[]
}

export interface PayloadPipelineBuild extends Timed {
  id: number
  stage: string
  name: string
  status: string
  createdAt: Date
  /** When the build runs, such as `on_success`. */
  when: string
  manual: boolean
  user: PayloadUser | null
  runner: { id: number; description: string; active: boolean; isShared: boolean } | null
  /** Null when the build has no artifacts. */
  artifactsFile: { filename: string; size: number } | null
}

export function buildPayload(build: PayloadBuild) {
  return {
    object_kind: 'build',
    ref: build.ref,
    tag: build.tag,
    before_sha: build.beforeSha,
    sha: build.sha,
    build_id: build.id,
    build_name: build.name,
    build_stage: build.stage,
    build_status: build.status,
    build_started_at: dateTime(build.startedAt),
    build_finished_at: dateTime(build.finishedAt),
    build_duration: build.duration,
    build_allow_failure: build.allowFailure,
    project_id: build.project.id,
    project_name: build.projectName,
    user: {
      id: build.user?.id ?? null,
      name: build.user?.name ?? null,
      email: build.user?.email ?? null
    },
    commit: buildCommit(build),
    repository: repository(build.project)
  }
}

/** The field `commit` of a build describes its pipeline: id, status and times are those of the pipeline. */
function buildCommit({ sha, commit, pipeline }: PayloadBuild) {
  return {
    id: pipeline.id,
    sha,
    message: commit.message,
    author_name: commit.authorName,
    author_email: commit.authorEmail,
    status: pipeline.status,
    duration: pipeline.duration,
    started_at: dateTime(pipeline.startedAt),
    finished_at: dateTime(pipeline.finishedAt)
  }
}

export function pipelinePayload(pipeline: PayloadPipeline) {
  return {
    object_kind: 'pipeline',
    object_attributes: {
      id: pipeline.id,
      ref: pipeline.ref,
      tag: pipeline.tag,
      sha: pipeline.sha,
      before_sha: pipeline.beforeSha,
      status: pipeline.status,
      stages: pipeline.stages,
      created_at: dateTime(pipeline.createdAt),
      finished_at: dateTime(pipeline.finishedAt),
      duration: pipeline.duration
    },
    user: pipeline.user && user(pipeline.user),
    project: plainProject(pipeline.project),
    commit: commit(pipeline.commit),
    builds: pipeline.builds.map(pipelineBuild)
  }
}

function pipelineBuild(build: PayloadPipelineBuild) {
  return {
    id: build.id,
    stage: build.stage,
    name: build.name,
    status: build.status,
    created_at: dateTime(build.createdAt),
    started_at: dateTime(build.startedAt),
    finished_at: dateTime(build.finishedAt),
    when: build.when,
    manual: build.manual,
    user: build.user && user(build.user),
    runner: build.runner && {
      id: build.runner.id,
      description: build.runner.description,
      active: build.runner.active,
      is_shared: build.runner.isShared
    },
    artifacts_file: { filename: build.artifactsFile?.filename ?? null, size: build.artifactsFile?.size ?? null }
  }
}
