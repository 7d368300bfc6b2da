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
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
}

export interface PayloadBuild extends Timed {
  readonly id: number
  readonly name: string
  readonly stage: string
  readonly status: string
  readonly ref: string
  readonly tag: boolean
  readonly beforeSha: string
  readonly sha: string
  /** Seconds; null before the build has started. */
  readonly duration: number | null
  readonly allowFailure: boolean
  /** The user who started the build; null for a build without a user, such as one of a trigger. */
  readonly user: PayloadUser | null
  readonly project: PayloadProject
  /** The display names of namespace and project, such as `Some Group / Some Project`. */
  readonly projectName: string
  readonly pipeline: Timed & { readonly id: number; readonly status: string; readonly duration: number | null }
  readonly commit: {
    readonly message: string | null
    readonly authorName: string | null
    readonly authorEmail: string | null
  }
}

export interface PayloadPipeline {
  readonly id: number
  readonly ref: string
  readonly tag: boolean
  readonly sha: string
  readonly beforeSha: string
  readonly status: string
  /** The names of the stages, in order. */
  readonly stages: readonly string[]
  readonly createdAt: Date
  readonly finishedAt: Date | null
  readonly duration: number | null
  readonly user: PayloadUser | null
  readonly project: PayloadProject
  /** Null when the repository no longer has the commit. */
  readonly commit: PayloadCommit | null
  readonly builds: readonly PayloadPipelineBuild[]
}

export interface PayloadPipelineBuild extends Timed {
  readonly id: number
  readonly stage: string
  readonly name: string
  readonly status: string
  readonly createdAt: Date
  /** When the build runs, such as `on_success`. */
  readonly when: string
  readonly manual: boolean
  readonly user: PayloadUser | null
  readonly runner: {
    readonly id: number
    readonly description: string
    readonly active: boolean
    readonly isShared: boolean
  } | null
  /** Null when the build has no artifacts. */
  readonly artifactsFile: { readonly filename: string; readonly size: number } | null
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
    commit: pipeline.commit && commit(pipeline.commit),
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
