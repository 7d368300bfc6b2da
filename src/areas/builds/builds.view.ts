// "Build (job)".
import { type Static, Type } from 'typebox'
import { publicUrl } from '../../config.js'
import type { Commit } from '../../git/objects.js'
import { DateTime, Nullable } from '../../lib/schema.js'
import { titleOf } from '../repository/repository.view.js'
import { User } from '../users/users.view.js'
import { hasArtifacts } from './artifacts.js'
import type { BuildRow } from './builds.queries.js'

const CommitOfBuild = Type.Object({
  id: Type.String(),
  short_id: Type.String(),
  title: Type.String(),
  message: Type.String(),
  author_name: Type.String(),
  author_email: Type.String(),
  created_at: DateTime
})

/** The summary of a runner. */
export const RunnerSummary = Type.Object({
  id: Type.Integer(),
  description: Type.String(),
  active: Type.Boolean(),
  is_shared: Type.Boolean(),
  name: Nullable(Type.String())
})

export const Build = Type.Object({
  id: Type.Integer(),
  status: Type.String(),
  stage: Type.String(),
  name: Type.String(),
  ref: Type.String(),
  tag: Type.Boolean(),
  coverage: Nullable(Type.Number()),
  created_at: DateTime,
  started_at: Nullable(DateTime),
  finished_at: Nullable(DateTime),
  user: Nullable(User),
  artifacts_file: Nullable(Type.Object({ filename: Type.String(), size: Type.Integer() })),
  commit: Nullable(CommitOfBuild),
  runner: Nullable(RunnerSummary),
  pipeline: Type.Object({ id: Type.Integer(), ref: Type.String(), sha: Type.String(), status: Type.String() }),
  download_url: Nullable(Type.String())
})
export type Build = Static<typeof Build>

/** A build with the commit that it is of; null when the commit is gone from the repository. */
export interface BuildReading {
  readonly build: BuildRow
  readonly commit: Commit | null
}

export const viewBuild = ({ build, commit }: BuildReading) => ({
  id: build.id,
  status: build.status,
  stage: build.stage,
  name: build.name,
  ref: build.ref,
  tag: build.tag === 1,
  coverage: build.coverage,
  created_at: build.created_at,
  started_at: build.started_at,
  finished_at: build.finished_at,
  user: viewStarter(build),
  artifacts_file:
    hasArtifacts(build) && build.artifacts_filename !== null
      ? { filename: build.artifacts_filename, size: build.artifacts_size ?? 0 }
      : null,
  commit: commit && viewCommit(commit),
  runner: viewRunner(build),
  pipeline: {
    id: build.pipeline_id,
    ref: build.pipeline_ref,
    sha: build.pipeline_sha,
    status: build.pipeline_status
  },
  download_url: null
})

const viewCommit = (commit: Commit) => ({
  id: commit.id,
  short_id: commit.id.slice(0, 8),
  title: titleOf(commit.message),
  message: commit.message,
  author_name: commit.authorName,
  author_email: commit.authorEmail,
  created_at: commit.committedDate
})

/** Null before a runner has taken the build, and once the runner is removed. */
function viewRunner(build: BuildRow) {
  if (build.runner_id === null) return null
  return {
    id: build.runner_id,
    description: build.runner_description ?? '',
    active: build.runner_active === 1,
    is_shared: build.runner_is_shared === 1,
    name: build.runner_name
  }
}

/** Written out: spreading another view into it took as long as the rest of a build. */
function viewStarter(build: BuildRow) {
  if (build.user_id === null || build.user_name === null) return null
  return {
    name: build.user_name,
    username: build.user_username ?? '',
    id: build.user_id,
    state: build.user_state ?? 'active',
    avatar_url: null,
    web_url: `${publicUrl()}/${build.user_username}`,
    created_at: build.user_created_at ?? build.created_at,
    is_admin: build.user_admin === 1,
    bio: build.user_bio,
    location: build.user_location,
    messenger: build.user_messenger ?? '',
    professional_network: build.user_professional_network ?? '',
    microblog: build.user_microblog ?? '',
    website_url: build.user_website_url ?? '',
    organization: build.user_organization ?? ''
  }
}
