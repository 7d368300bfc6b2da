// Creates the hook events of builds and pipelines from published events.
import type { Commit } from '../../../../git/objects/objects.js'
import { buildPayload, type PayloadPipelineBuild, pipelinePayload } from '../../../../webhooks/build-payloads.js'
import type { PayloadCommit, PayloadUser } from '../../../../webhooks/payloads.js'
import type { BuildSnapshot, PipelineSnapshot } from '../../../ground/activity/ci-snapshots.js'
import type { Published, Stored } from '../../../ground/activity/events.js'
import type { HookEvent } from '../../../ground/hooks/hook-events.js'
import { readBuilds, readPlace, readStageNames, readUsers, type ShownBuild } from './payload.queries.js'

/** Returns the hook event of a build that was created, started or ended. */
export function hookEventOfBuild({ at, event: { build } }: Published<'build.changed'>): HookEvent {
  return { project: { id: build.project_id, event: 'build', payload: () => payloadOfBuild(build, new Date(at)) } }
}

/** Returns the hook event of a pipeline whose status changed. */
export function hookEventOfPipeline({ event: { pipeline } }: Published<'pipeline.changed'>): HookEvent {
  return { project: { id: pipeline.project_id, event: 'pipeline', payload: () => payloadOfPipeline(pipeline) } }
}

interface StoredTimes {
  readonly started_at: string | null
  readonly finished_at: string | null
}

const dateOf = (text: string | null) => (text === null ? null : new Date(text))
const timesOf = ({ started_at, finished_at }: StoredTimes) => ({
  startedAt: dateOf(started_at),
  finishedAt: dateOf(finished_at)
})

async function payloadOfBuild(build: Stored<BuildSnapshot>, at: Date) {
  const { pipeline } = build
  const [{ project, projectName, commit }, users] = await Promise.all([
    readPlace(build.project_id, build.sha),
    readUsers([build.user_id])
  ])
  const times = timesOf(build)
  const payload = buildPayload({
    ...build,
    ...times,
    beforeSha: pipeline.before_sha,
    duration: times.startedAt && ((times.finishedAt ?? at).getTime() - times.startedAt.getTime()) / 1000,
    allowFailure: build.allow_failure,
    user: userIn(users, build.user_id),
    project,
    projectName,
    pipeline: { id: pipeline.id, status: pipeline.status, duration: pipeline.duration, ...timesOf(pipeline) },
    commit: {
      message: commit?.message ?? null,
      authorName: commit?.authorName ?? null,
      authorEmail: commit?.authorEmail ?? null
    }
  })
  return saying(payload, commit)
}

async function payloadOfPipeline(pipeline: Stored<PipelineSnapshot>) {
  const [{ project, commit }, stages, builds] = await Promise.all([
    readPlace(pipeline.project_id, pipeline.sha),
    readStageNames(pipeline.id),
    readBuilds(pipeline.id)
  ])
  const users = await readUsers([pipeline.user_id, ...builds.map(({ user_id }) => user_id)])
  const shown = new Map(builds.map(build => [build.id, build]))
  const payload = pipelinePayload({
    ...pipeline,
    beforeSha: pipeline.before_sha,
    stages,
    createdAt: new Date(pipeline.created_at),
    finishedAt: dateOf(pipeline.finished_at),
    user: userIn(users, pipeline.user_id),
    project,
    commit: commit && commitOf(commit, project.webUrl),
    builds: pipeline.builds.flatMap(then => {
      const build = shown.get(then.id)
      return build ? [buildOf(then, build, userIn(users, build.user_id))] : []
    })
  })
  return saying(payload, commit)
}

/** Returns a build at the time of the event. It had no runner before it started, and no artifacts before it ended. */
function buildOf(
  then: Stored<PipelineSnapshot>['builds'][number],
  build: ShownBuild,
  user: PayloadUser | null
): PayloadPipelineBuild {
  const { artifacts_filename: filename } = build
  const times = timesOf(then)
  return {
    ...times,
    id: then.id,
    stage: build.stage,
    name: build.name,
    status: then.status,
    createdAt: build.created_at,
    when: build.start_when,
    manual: build.start_when === 'manual',
    user,
    runner: times.startedAt && runnerOf(build),
    artifactsFile: times.finishedAt && filename !== null ? { filename, size: build.artifacts_size ?? 0 } : null
  }
}

const runnerOf = (build: ShownBuild) =>
  build.runner_id === null
    ? null
    : {
        id: build.runner_id,
        description: build.runner_description ?? '',
        active: build.runner_active === 1,
        isShared: build.runner_is_shared === 1
      }

const userIn = (users: ReadonlyMap<number, PayloadUser>, id: number | null) =>
  id === null ? null : (users.get(id) ?? null)

const commitOf = (commit: Commit, webUrl: string): PayloadCommit => ({
  id: commit.id,
  message: commit.message,
  timestamp: commit.committedDate,
  url: `${webUrl}/commit/${commit.id}`,
  author: { name: commit.authorName, email: commit.authorEmail }
})

/** The git reader keeps only the beginning of a long message. */
const saying = (payload: object, commit: Commit | null) =>
  commit?.messageIsCut ? { ...payload, shortened: ['commit.message'] } : payload
