// Tells what happens to builds and pipelines, with copies of the rows, to hooks that want it. "What emits what": the
// creation, the start and the end of a build, and each change of a pipeline's status.
import { type BuildStatus, isComplete } from '../../../ci/status.js'
import { marks, padded, row, rows } from '../../../db/sql.js'
import { batches } from '../../../lib/batches.js'
import type { BuildSnapshot, PipelineSnapshot } from '../../activity/ci-snapshots.js'
import { tellAll, tellAtOnce } from '../../activity/happenings.js'
import type { LockedPipeline } from '../locked-pipeline.js'

/** The most builds that the event of a pipeline shows. Those that come later, such as repeated ones, are left out. */
export const MOST_BUILDS = 2000

/** Notes that a build of a locked pipeline was created or changed. It is told as it is when all changes are made. */
export function noteBuild({ wanted, news }: LockedPipeline, id: number): void {
  if (wanted.build) news.builds.add(id)
}

/** Notes a change of the status of a build if hooks hear of it. They do not hear that it waits or was skipped. */
export function noteStatus(pipeline: LockedPipeline, id: number, from: BuildStatus, to: BuildStatus): void {
  if (from !== to && (to === 'running' || (isComplete(to) && to !== 'skipped'))) noteBuild(pipeline, id)
}

/** Notes the unfinished builds of a locked pipeline, before one statement ends them. */
export async function noteUnfinished(pipeline: LockedPipeline, condition: string): Promise<void> {
  if (!pipeline.wanted.build) return
  const found = await rows<{ id: number }>(`select id from builds where pipeline_id = ? and ${condition}`, [
    pipeline.id
  ])
  for (const { id } of found) pipeline.news.builds.add(id)
}

/** Tells all builds of a new pipeline. Call it before any of them starts. */
export async function tellNewBuilds({ id, wanted }: LockedPipeline): Promise<void> {
  if (!wanted.build) return
  const found = await rows<BuildColumns>(`${BUILDS} where b.pipeline_id = ? order by b.id`, [id])
  await tellAll(found.map(columns => ({ kind: 'build.changed', build: snapshotOf(columns) })))
}

/** Tells what was noted. Call it after the last change, in the same transaction. */
export async function tellNews(pipeline: LockedPipeline): Promise<void> {
  const { id, wanted, news } = pipeline
  await tellEnded(pipeline)
  for (const ids of batches([...news.builds], 512)) {
    const listed = padded(ids)
    const found = await rows<BuildColumns>(`${BUILDS} where b.id in (${marks(listed)}) order by b.id`, listed)
    await tellAll(found.map(columns => ({ kind: 'build.changed', build: snapshotOf(columns) })))
  }
  if (news.status !== null && (wanted.pipeline || isMailed(news.status))) await tellPipeline(id)
  news.builds.clear()
  news.status = null
}

/** Whether people get mail of this status. Whoever started the pipeline does, so that no statement asks who wants it. */
export const isMailed = (status: BuildStatus): boolean => status === 'failed' || status === 'success'

/** Tells listeners at once of failed and repeated builds. Tags have no merge requests, which these are about. */
async function tellEnded({ id, ended }: LockedPipeline): Promise<void> {
  const { repeated } = ended
  const hasFailed = ended.failed.size > 0
  if (!hasFailed && !repeated) return
  ended.failed.clear()
  ended.repeated = false
  const built = await row<{ project_id: number; ref: string; sha: string }>(
    'select project_id, ref, sha from pipelines where id = ? and tag = false',
    [id]
  )
  if (!built) return
  const commit = { projectId: built.project_id, branch: built.ref, sha: built.sha }
  if (repeated) await tellAtOnce({ kind: 'build.retried', ...commit })
  if (hasFailed) await tellAtOnce({ kind: 'build.failed', ...commit })
}

/** Tells that a pipeline has another status. Call it only when a hook wants it, or when it is mailed. */
export async function tellPipeline(id: number): Promise<void> {
  const found = await row<PipelineColumns>(
    `select id, project_id, ref, tag, sha, before_sha, status, user_id, created_at, finished_at, duration
     from pipelines where id = ?`,
    [id]
  )
  if (!found) return
  const builds = await rows<PipelineSnapshot['builds'][number]>(
    `select id, status, started_at, finished_at from builds where pipeline_id = ? order by id limit ${MOST_BUILDS}`,
    [id]
  )
  await tellAll([{ kind: 'pipeline.changed', pipeline: { ...found, tag: found.tag === 1, builds } }])
}

type PipelineColumns = Omit<PipelineSnapshot, 'tag' | 'builds'> & { readonly tag: number }

interface BuildColumns extends Omit<BuildSnapshot, 'tag' | 'allow_failure' | 'pipeline'> {
  readonly tag: number
  readonly allow_failure: number
  readonly pipeline_id: number
  readonly before_sha: string
  readonly pipeline_status: string
  readonly pipeline_duration: number | null
  readonly pipeline_started_at: Date | null
  readonly pipeline_finished_at: Date | null
}

const BUILDS = `select b.id, b.project_id, b.name, b.stage, b.status, b.ref, b.tag, b.sha, b.allow_failure, b.user_id,
    b.started_at, b.finished_at, b.pipeline_id, p.before_sha, p.status as pipeline_status,
    p.duration as pipeline_duration, p.started_at as pipeline_started_at, p.finished_at as pipeline_finished_at
  from builds b join pipelines p on p.id = b.pipeline_id`

const snapshotOf = (columns: BuildColumns): BuildSnapshot => ({
  id: columns.id,
  project_id: columns.project_id,
  name: columns.name,
  stage: columns.stage,
  status: columns.status,
  ref: columns.ref,
  tag: columns.tag === 1,
  sha: columns.sha,
  allow_failure: columns.allow_failure === 1,
  user_id: columns.user_id,
  started_at: columns.started_at,
  finished_at: columns.finished_at,
  pipeline: {
    id: columns.pipeline_id,
    before_sha: columns.before_sha,
    status: columns.pipeline_status,
    duration: columns.pipeline_duration,
    started_at: columns.pipeline_started_at,
    finished_at: columns.pipeline_finished_at
  }
})
