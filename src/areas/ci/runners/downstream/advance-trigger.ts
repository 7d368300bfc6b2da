// A build that starts a pipeline instead of running a script (`trigger` of the CI file), or follows one (`needs: pipeline`). No
// runner takes it: a job starts the pipeline, and if the build waits for the pipeline, another job finishes the build.
import type { PlannedBuild } from '../../../../ci/plan.js'
import { type BuildStatus, isComplete } from '../../../../ci/status.js'
import { publicUrl } from '../../../../config.js'
import { duplicateKey } from '../../../../db/connect/failure.js'
import { row } from '../../../../db/connect/sql.js'
import { Failure, Invalid, Unavailable } from '../../../../errors.js'
import type { RunnerResult } from '../../../../runner/job.js'
import { measureTrace } from '../../../../storage/measure.js'
import { appendTrace, resetTrace } from '../../../../storage/traces.js'
import { finishTrigger } from '../../builds/claim.js'
import { orInOtherJob } from '../../pipelines/planning/in-other-job.js'
import { findDescribedBuild } from '../job-description.queries.js'
import { followed } from './followed.js'
import { type Launched, launch } from './launch.js'

interface TriggerRow {
  readonly pipeline_id: number
  readonly project_id: number
  readonly user_id: number | null
  readonly attempt: number
  readonly plan: string
  readonly downstream_id: number | null
  readonly awaited: number | null
  /** Null when the other project was deleted. */
  readonly downstream_status: BuildStatus | null
  /** 1 when its CI file has errors. */
  readonly broken: number | null
}

/** Advances a running build that starts or follows a pipeline. Another run of the same job changes nothing. */
export async function advanceTrigger(buildId: number, { urlsLater = false } = {}): Promise<void> {
  const found = await findTrigger(buildId)
  const { trigger, mirrors } = found ? (JSON.parse(found.plan) as Partial<PlannedBuild>) : {}
  if (found && mirrors !== undefined) return follow(buildId, found, mirrors)
  if (!found || !trigger) return
  if (found.downstream_id === null) return start(buildId, found, urlsLater)
  // The process that created it was killed before it reported that.
  if (found.broken === 1) return finish(buildId, found, NOT_STARTED)
  if (found.awaited === 1 && found.downstream_status !== null && !isComplete(found.downstream_status)) return
  await finish(buildId, found, found.awaited === 1 ? resultOf(found.downstream_status) : { status: 'success' })
}

const NOT_STARTED: RunnerResult = { status: 'failed', reason: 'downstream_pipeline_creation_failed' }

const findTrigger = (buildId: number) =>
  row<TriggerRow>(
    `select b.pipeline_id, b.project_id, b.user_id, b.attempt, b.plan, d.pipeline_id as downstream_id, d.awaited, l.status as downstream_status,
       l.yaml_errors is not null as broken
     from builds b left join downstream_pipelines d on d.build_id = b.id left join pipelines l on l.id = d.pipeline_id
     where b.id = ? and b.status = 'running' and b.runner_id is null and b.token_hash is null`,
    [buildId]
  )

/** Not specified: a pipeline that only waits for manual jobs counts as successful. */
function resultOf(status: BuildStatus | null): RunnerResult {
  if (status === 'success' || status === 'skipped') return { status: 'success' }
  return { status: 'failed', reason: 'downstream_pipeline_failed' }
}

async function start(buildId: number, found: TriggerRow, urlsLater: boolean): Promise<void> {
  const key = { build: buildId, attempt: found.attempt }
  const build = await findDescribedBuild(buildId)
  if (!build) return
  await resetTrace(key)
  try {
    const launched = await orInOtherJob(() => launch(build, urlsLater), build.project_id, { buildId })
    if (!launched) return
    await append(key, lineOf(launched))
  } catch (error) {
    // Another run of this job was faster.
    if (duplicateKey(error) === 'downstream_pipelines_build') return
    await append(key, `ERROR: no pipeline was started: ${textOf(error)}`)
    await finish(buildId, found, NOT_STARTED)
    return
  }
  // The pipeline may have ended already, or the build does not wait for it.
  await advanceTrigger(buildId)
}

/**
 * Returns the text of a failure. Rethrows any other error, and a failure that passes: the job is tried again, or goes to the machine of
 * the other project.
 */
function textOf(error: unknown): string {
  if (!(error instanceof Failure) || error instanceof Unavailable) throw error
  return error instanceof Invalid ? Object.values(error.errors).flat().join('\n') : error.message
}

async function follow(buildId: number, found: TriggerRow, path: string): Promise<void> {
  const key = { build: buildId, attempt: found.attempt }
  try {
    const { id, status, project } = await followed({ ...found, id: buildId }, path)
    if (project) {
      await resetTrace(key)
      await append(key, `Follows ${placeOf({ id, path: `${project.namespace_path}/${project.path}` })}`)
    }
    if (isComplete(status)) await finish(buildId, found, followedResult(status))
  } catch (error) {
    // Another run of this job was faster.
    if (duplicateKey(error) === 'followed_pipelines_build') return
    await append(key, `ERROR: no pipeline can be followed: ${textOf(error)}`)
    await finish(buildId, found, { status: 'failed', reason: 'upstream_bridge_project_not_found' })
  }
}

/** Not specified: a pipeline that was skipped or only waits for manual jobs counts as successful. */
function followedResult(status: BuildStatus): RunnerResult {
  if (status === 'canceled') return { status }
  return status === 'failed' ? { status, reason: 'upstream_pipeline_failed' } : { status: 'success' }
}

const lineOf = (launched: Launched) => `Started ${placeOf(launched)}`

const placeOf = ({ id, path }: Launched) => `pipeline ${id} of ${path}: ${publicUrl()}/${path}/pipelines/${id}`

const append = (key: { build: number; attempt: number }, line: string) =>
  appendTrace(key, Buffer.from(`${line.slice(0, 4000)}\n`))

async function finish(buildId: number, { pipeline_id: pipelineId, attempt }: TriggerRow, result: RunnerResult) {
  await finishTrigger({ buildId, pipelineId }, result, await measureTrace({ build: buildId, attempt }))
}
