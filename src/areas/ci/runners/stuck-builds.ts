// Ends builds that would never end: their external runner disappeared, or no runner exists for them.
import { config } from '../../../config.js'
import { rows } from '../../../db/connect/sql.js'
import { enqueueAll } from '../../../queue/enqueue.js'
import type { Task, TaskContext } from '../../../queue/task.js'
import { measureTrace } from '../../../storage/measure.js'
import { failWaiting, finishBuild } from '../builds/claim.js'

/** A runner sends a sign of life every 30 seconds, or every two minutes while a build prints nothing. */
const SILENT_S = 3600
/** Runners enforce the time limit themselves; they may upload artifacts after it. */
const GRACE_MS = 600_000
const WAITING_MS = 86_400_000
const MOST = 500

export const stuckBuilds: Task = {
  name: 'stuck_builds',
  schedule: '17 * * * *',
  about:
    'fails builds whose external runner is silent for an hour, and builds that wait for a day without a runner for them',
  run: async context => {
    const { dryRun } = context
    const lost = await endAll(context, await findLost(), endLost)
    const waiting = await endAll(context, await findWaiting(), ({ id }) => failWaiting(id))
    if (!dryRun) await Promise.all([wakeReady(), wakeTriggers()])
    return { lost, waiting }
  }
}

/** Builds that start or follow a pipeline: the job that advances them may be lost. */
async function wakeTriggers(): Promise<void> {
  const waiting = await rows<{ buildId: number }>(
    `select id as buildId from builds where status = 'running' and runner_id is null and token_hash is null
       and started_at < ? order by id limit ${MOST}`,
    [new Date(Date.now() - GRACE_MS)]
  )
  if (waiting.length > 0) await enqueueAll('build.trigger', waiting)
}

/** Builds that were ready ten minutes ago: the job that starts them may be lost. A duplicate job is harmless. */
async function wakeReady(): Promise<void> {
  const ready = await rows<{ buildId: number }>(
    `select id as buildId from builds where status = 'created' and ready_at < ? order by id limit ${MOST}`,
    [new Date(Date.now() - GRACE_MS)]
  )
  if (ready.length > 0) await enqueueAll('build.ready', ready)
}

interface StuckBuild {
  readonly id: number
  readonly pipelineId: number
  readonly attempt: number
  readonly token: Buffer
  readonly silent: number
}

/** Returns how many of the builds were still stuck. */
async function endAll(
  { dryRun, signal, count }: TaskContext,
  builds: readonly StuckBuild[],
  end: (build: StuckBuild) => Promise<boolean>
): Promise<number> {
  let ended = 0
  for (const build of builds) {
    signal.throwIfAborted()
    if (!dryRun && !(await end(build))) continue
    ended += 1
    count()
  }
  return ended
}

async function endLost({ id, pipelineId, attempt, token, silent }: StuckBuild): Promise<boolean> {
  const reason = silent ? 'stuck_or_timeout_failure' : 'job_execution_timeout'
  const trace = await measureTrace({ build: id, attempt })
  return finishBuild({ buildId: id, pipelineId, attempt, token }, { status: 'failed', reason }, trace)
}

/** Workers check the builds of the built-in runner. */
function findLost(): Promise<StuckBuild[]> {
  const silent = `b.lease_until < now(3) - interval ${SILENT_S} second`
  return rows<StuckBuild>(
    `select b.id, b.pipeline_id as pipelineId, b.attempt, b.token_hash as token, ${silent} as silent from builds b
     where b.status = 'running' and b.token_hash is not null
       and not exists (select 1 from runners r where r.id = b.runner_id and r.built_in = 1)
       and (${silent}
         or b.started_at < date_sub(?, interval coalesce(b.timeout, ?) second))
     order by b.id limit ${MOST}`,
    [new Date(Date.now() - GRACE_MS), config().runner.timeout]
  )
}

/** Builds of projects that are archived or have builds turned off wait for as long as that lasts. */
function findWaiting(): Promise<StuckBuild[]> {
  const day = new Date(Date.now() - WAITING_MS)
  return rows<StuckBuild>(
    `select b.id, b.pipeline_id as pipelineId, b.attempt, b.token_hash as token, 0 as silent
     from builds b join projects p on p.id = b.project_id
     where b.status = 'pending' and b.queued_at < ? and p.builds_enabled and not p.archived
       and not exists (select 1 from runners me where me.active and me.contacted_at > ?
         and json_contains(me.tag_list, b.tag_list) and (me.run_untagged or b.tag_list <> '[]')
         and (not me.ref_protected or b.ref_protected)
         and ((me.is_shared and p.shared_runners_enabled)
           or exists (select 1 from runner_projects a where a.runner_id = me.id and a.project_id = p.id)))
     order by b.id limit ${MOST}`,
    [day, day]
  )
}
