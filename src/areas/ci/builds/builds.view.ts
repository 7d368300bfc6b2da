// "Build (job)".
import type { Commit } from '../../../git/objects/objects.js'
import { described, Flag, IdOf, Integer, Moment, Nullable, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { titleOf } from '../../code/repository/repository.view.js'
import { viewJoinedFullUser } from '../../people/users/joined-user.js'
import { User } from '../../people/users/users.view.js'
import { BuildStatus } from '../pipelines/pipelines.view.js'
import { hasArtifacts } from './artifacts.js'
import type { BuildRow } from './builds.queries.js'

const CommitOfBuild = Type.Object(
  {
    id: Text('the id of the commit'),
    short_id: Text('the first 8 characters of the id'),
    title: Text('the first line of the message; the beginning of a long line'),
    message: Text('the message, cut after 32 KiB'),
    author_name: Text('the name of the author'),
    author_email: Text('the email address of the author'),
    created_at: Moment('when it was committed')
  },
  { title: 'BuildCommit', description: 'The commit of a build.' }
)

const ArtifactsFile = Type.Object(
  { filename: Text('the name of the archive'), size: Integer('bytes of the archive') },
  { title: 'ArtifactsFile', description: 'The archive of a build.' }
)

const PipelineOfBuild = Type.Object(
  {
    id: IdOf('the pipeline'),
    ref: Text('its branch or tag'),
    sha: Text('the id of its commit'),
    status: described(BuildStatus, 'its status')
  },
  { title: 'BuildPipeline', description: 'The pipeline that a build belongs to.' }
)

/** The summary of a runner. */
export const RunnerSummary = Type.Object(
  {
    id: IdOf('the runner'),
    description: Text('the display name'),
    active: Flag('whether it takes builds; a runner that is not active is paused'),
    is_shared: Flag('whether it serves every project that enables shared runners'),
    name: Nullable(Text('the name of its program; null until the runner reports it'))
  },
  { title: 'RunnerSummary', description: 'A runner.' }
)

export const Build = Type.Object(
  {
    id: IdOf('the build'),
    status: described(BuildStatus, 'the status'),
    stage: Text('the stage of the pipeline'),
    name: Text('the name in the CI file'),
    ref: Text('the branch or tag'),
    tag: Flag('whether the ref is a tag'),
    coverage: Nullable(Type.Number({ description: 'the test coverage in percent' })),
    created_at: Moment('when it was created'),
    started_at: Nullable(Moment('when it started')),
    finished_at: Nullable(Moment('when it ended')),
    user: Nullable(described(User, 'the user who started it; null when the user was deleted')),
    artifacts_file: Nullable(described(ArtifactsFile, 'the archive; null without artifacts')),
    commit: Nullable(described(CommitOfBuild, 'the commit; null when the repository no longer has it')),
    runner: Nullable(
      described(RunnerSummary, 'the runner that took it; null before that, and when the runner was removed')
    ),
    pipeline: described(PipelineOfBuild, 'the pipeline'),
    download_url: Nullable(Text('always null'))
  },
  { title: 'Build', description: 'A job of a pipeline.' }
)
export type Build = Static<typeof Build>

/** A build and its commit. The commit is null when the repository no longer has it. */
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
  user: viewJoinedFullUser(build),
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

/** Returns null until a runner takes the build, and after that runner was removed. */
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
