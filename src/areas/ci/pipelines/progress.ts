// Starts the stages of a pipeline and sets its status. It works from the counts of the stages, and updates builds only
// in a stage that starts. It reads all builds only when the pipeline ends.
import { pipelineStatus, type StageStart, stageToStart } from '../../../ci/advance.js'
import { busySeconds } from '../../../ci/duration.js'
import { type BuildStatus, isComplete, latestBuilds } from '../../../ci/status.js'
import { execute, marks, rows } from '../../../db/connect/sql.js'
import { enqueue, enqueueAll } from '../../../queue/enqueue.js'
import { advanceBuilds } from './advancing-builds.js'
import { countMove, type LockedPipeline, recount, saveCounts } from './locked-pipeline.js'
import { wakeRunners } from './wake-runners.js'

/** Starts the stages that can start, and sets the status of the pipeline, both from the current counts. */
export async function advancePipeline(pipeline: LockedPipeline): Promise<void> {
  if (!pipeline.eachBuild) await startStages(pipeline)
  else if (pipeline.checkAgain) await advanceBuilds(pipeline)
  await saveCounts(pipeline)
  const status = statusAfter(pipeline.status, pipelineStatus(pipeline.stages))
  if (status === pipeline.status) return
  await setStatus(pipeline, status)
  pipeline.unpublished.status = status
}

async function startStages(pipeline: LockedPipeline): Promise<void> {
  for (let start = stageToStart(pipeline.stages); start; start = stageToStart(pipeline.stages)) {
    await startStage(pipeline, start)
  }
}

async function startStage(pipeline: LockedPipeline, { position, runs }: StageStart): Promise<void> {
  const now = new Date()
  const ofStage = "pipeline_id = ? and stage_index = ? and status = 'created'"
  const begun = await execute(
    `update builds set status = 'pending', queued_at = ?, updated_at = ? where ${ofStage} and start_when in (${marks(runs)})`,
    [now, now, pipeline.id, position, ...runs]
  )
  const left = await execute(`update builds set status = 'skipped', updated_at = ? where ${ofStage}`, [
    now,
    pipeline.id,
    position
  ])
  const [pending, skipped] = [begun.affectedRows, left.affectedRows]
  if (pending > 0) await wakeRunners(await pendingOf(pipeline.id, position))
  const counted =
    countMove(pipeline, { position, from: 'created', to: 'pending' }, pending) &&
    countMove(pipeline, { position, from: 'created', to: 'skipped' }, skipped)
  if (!counted || pipeline.stages.some(stage => stage.position === position && stage.counts.created > 0)) {
    await recount(pipeline)
  }
}

async function pendingOf(pipelineId: number, position: number): Promise<number[]> {
  const found = await rows<{ id: number }>(
    "select id from builds where pipeline_id = ? and stage_index = ? and status = 'pending' order by id",
    [pipelineId, position]
  )
  return found.map(({ id }) => id)
}

/** A pipeline that has started is `running`, not `pending`, while all its remaining builds are pending. */
function statusAfter(now: BuildStatus, next: BuildStatus): BuildStatus {
  return next === 'pending' && (now === 'running' || isComplete(now)) ? 'running' : next
}

async function setStatus({ id, startedAt }: LockedPipeline, status: BuildStatus): Promise<void> {
  const now = new Date()
  const ended = status === 'success' || status === 'failed' || status === 'canceled'
  if (status === 'success') await enqueue('pipeline.succeeded', { pipelineId: id })
  if (isComplete(status)) await wakeUpstream(id)
  await execute(
    `update pipelines set status = ?, started_at = ?, finished_at = ?, duration = ?, updated_at = ? where id = ?`,
    [
      status,
      startedAt ?? (status === 'running' ? now : null),
      ended ? now : null,
      ended ? await durationOf(id) : null,
      now,
      id
    ]
  )
}

/** The build that started this pipeline may wait for it, and so may builds that follow it. */
async function wakeUpstream(id: number): Promise<void> {
  const waiting = await rows<{ buildId: number }>(
    `select build_id as buildId from downstream_pipelines where pipeline_id = ? and awaited = 1
     union all select f.build_id as buildId from followed_pipelines f join builds b on b.id = f.build_id
     where f.followed_pipeline_id = ? and b.status = 'running'`,
    [id, id]
  )
  if (waiting.length > 0) await enqueueAll('build.trigger', waiting)
}

interface TimedBuild {
  readonly id: number
  readonly name: string
  readonly started_at: Date | null
  readonly finished_at: Date | null
}

/** Returns the seconds during which at least one build ran. */
async function durationOf(pipelineId: number): Promise<number> {
  const builds = await rows<TimedBuild>(
    'select id, name, started_at, finished_at from builds where pipeline_id = ? order by id',
    [pipelineId]
  )
  const intervals = latestBuilds(builds).flatMap(({ started_at, finished_at }) =>
    started_at && finished_at ? [{ startedAt: started_at, finishedAt: finished_at }] : []
  )
  return busySeconds(intervals)
}
