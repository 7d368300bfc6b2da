// Moves a pipeline on: which builds begin, which are skipped, what its status is. Called in the transaction that ends a
// build, with the pipeline's row locked, so that two builds that end together see each other.
import { advance, type StageBuild } from '../../ci/advance.js'
import { busySeconds } from '../../ci/duration.js'
import { type BuildStatus, isComplete, latestBuilds } from '../../ci/status.js'
import { execute, marks, row, rows } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { enqueueAll } from '../../queue/enqueue.js'

interface BuildRow {
  id: number
  name: string
  stage_index: number
  status: BuildStatus
  start_when: StageBuild['when']
  allow_failure: number
  started_at: Date | null
  finished_at: Date | null
}

/** Applies what follows from the builds as they are now. */
export async function advancePipeline(id: number): Promise<void> {
  await transact(async () => {
    const pipeline = await row<{ status: BuildStatus; started_at: Date | null }>(
      'select status, started_at from pipelines where id = ? for update',
      [id]
    )
    if (!pipeline) return
    const builds = await rows<BuildRow>(
      `select id, name, stage_index, status, start_when, allow_failure, started_at, finished_at from builds
       where pipeline_id = ? order by id`,
      [id]
    )
    const { enqueue, skip, status } = advance(builds.map(asStageBuild))
    await begin(enqueue)
    await move(skip, 'skipped')
    if (status !== pipeline.status) await setStatus(id, pipeline, status, builds)
  })
}

const asStageBuild = (build: BuildRow): StageBuild => ({
  id: build.id,
  name: build.name,
  stageIndex: build.stage_index,
  status: build.status,
  when: build.start_when,
  allowFailure: build.allow_failure === 1
})

async function begin(ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await move(ids, 'pending')
  await enqueueAll(
    'build.run',
    ids.map(buildId => ({ buildId }))
  )
}

async function move(ids: readonly number[], status: 'pending' | 'skipped'): Promise<void> {
  if (ids.length === 0) return
  const now = new Date()
  await execute(
    `update builds set status = ?, queued_at = ?, updated_at = ? where status = 'created' and id in (${marks(ids)})`,
    [status, status === 'pending' ? now : null, now, ...ids]
  )
}

async function setStatus(
  id: number,
  pipeline: { status: BuildStatus; started_at: Date | null },
  next: BuildStatus,
  builds: readonly BuildRow[]
): Promise<void> {
  // A pipeline that was over and has work again, by a retry, goes on rather than begins.
  const status = next === 'pending' && isComplete(pipeline.status) ? 'running' : next
  const now = new Date()
  const ended = status === 'success' || status === 'failed' || status === 'canceled'
  await execute(
    `update pipelines set status = ?, started_at = ?, finished_at = ?, duration = ?, updated_at = ? where id = ?`,
    [
      status,
      pipeline.started_at ?? (status === 'running' ? now : null),
      ended ? now : null,
      ended ? durationOf(builds) : null,
      now,
      id
    ]
  )
}

/** Seconds during which at least one build ran. */
function durationOf(builds: readonly BuildRow[]): number {
  const intervals = latestBuilds(builds).flatMap(({ started_at, finished_at }) =>
    started_at && finished_at ? [{ startedAt: started_at, finishedAt: finished_at }] : []
  )
  return Math.round(busySeconds(intervals))
}
