// Publishes the changes of builds and pipelines, with copies of the rows, for hooks that subscribe to them. "What emits
// what": the creation, the start and the end of a build, and each change of a pipeline's status.
import { type BuildStatus, isComplete } from '../../../../ci/status.js'
import { marks, padded, row, rows } from '../../../../db/connect/sql.js'
import { batches } from '../../../../lib/batches.js'
import type { BuildSnapshot, PipelineSnapshot } from '../../../ground/activity/ci-snapshots.js'
import { publishAll, publishInTransaction } from '../../../ground/activity/events.js'
import type { LockedPipeline } from '../locked-pipeline.js'

/** The maximum number of builds in the event of a pipeline. Later builds, such as retried ones, are omitted. */
export const MOST_BUILDS = 2000

/** Notes that a build of a locked pipeline was created or changed. The event shows its state after all changes. */
export function noteBuild({ wanted, unpublished }: LockedPipeline, id: number): void {
  if (wanted.build) unpublished.builds.add(id)
}

/** Notes a change of a build's status if hooks receive it. They do not receive waiting and skipped builds. */
export function noteStatus(pipeline: LockedPipeline, id: number, from: BuildStatus, to: BuildStatus): void {
  if (from !== to && (to === 'running' || (isComplete(to) && to !== 'skipped'))) noteBuild(pipeline, id)
}

/** Notes the unfinished builds of a locked pipeline, before one statement ends them. */
export async function noteUnfinished(pipeline: LockedPipeline, condition: string): Promise<void> {
  if (!pipeline.wanted.build) return
  const found = await rows<{ id: number }>(`select id from builds where pipeline_id = ? and ${condition}`, [
    pipeline.id
  ])
  for (const { id } of found) pipeline.unpublished.builds.add(id)
}

/** Publishes all builds of a new pipeline. Call it before any of them starts. */
export async function publishNewBuilds({ id, wanted }: LockedPipeline): Promise<void> {
  if (!wanted.build) return
  const found = await rows<BuildColumns>(`${BUILDS} where b.pipeline_id = ? order by b.id`, [id])
  await publishAll(found.map(columns => ({ kind: 'build.changed', build: snapshotOf(columns) })))
}

/** Publishes the noted changes. Call it after the last change, in the same transaction. */
export async function publishChanges(pipeline: LockedPipeline): Promise<void> {
  const { id, wanted, unpublished } = pipeline
  await publishEnded(pipeline)
  for (const ids of batches([...unpublished.builds], 512)) {
    const listed = padded(ids)
    const found = await rows<BuildColumns>(`${BUILDS} where b.id in (${marks(listed)}) order by b.id`, listed)
    await publishAll(found.map(columns => ({ kind: 'build.changed', build: snapshotOf(columns) })))
  }
  if (unpublished.status !== null && (wanted.pipeline || isMailed(unpublished.status))) await publishPipeline(id)
  unpublished.builds.clear()
  unpublished.status = null
}

/**
 * Returns whether people get mail about this status. The user who started the pipeline always does, so no query for
 * subscribers is needed.
 */
export const isMailed = (status: BuildStatus): boolean => status === 'failed' || status === 'success'

/** Publishes failed and retried builds to transaction listeners, for merge requests. Tags have no merge requests. */
async function publishEnded({ id, ended }: LockedPipeline): Promise<void> {
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
  if (repeated) await publishInTransaction({ kind: 'build.retried', ...commit })
  if (hasFailed) await publishInTransaction({ kind: 'build.failed', ...commit })
}

/** Publishes a change of a pipeline's status. Call it only when a hook subscribes to it or when it is mailed. */
export async function publishPipeline(id: number): Promise<void> {
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
  await publishAll([{ kind: 'pipeline.changed', pipeline: { ...found, tag: found.tag === 1, builds } }])
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
