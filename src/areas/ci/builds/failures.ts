// The effects of a failed build according to the CI file: the failure is allowed, or the build is retried automatically.

import { retriesAgain } from '../../../ci/keys/retry.js'
import type { PlannedBuild } from '../../../ci/plan.js'
import { row } from '../../../db/connect/sql.js'
import type { RunnerResult } from '../../../runner/job.js'
import { type LockedPipeline, recount } from '../pipelines/locked-pipeline.js'
import { wakeRunners } from '../pipelines/wake-runners.js'
import { copyBuild } from './retries.js'

interface FailedRow {
  readonly plan: string
  /** The number of builds with this name in the pipeline, including this one. */
  readonly copies: number
  /** 0 when somebody has already retried the build. */
  readonly latest: number
}

/** The consequence of a failed build. */
export interface Judgement {
  /** The CI file allows its exit code. */
  readonly allowed: boolean
  /** The build runs again. */
  readonly again: boolean
}

export async function judgeFailure(
  buildId: number,
  { reason, exitCode }: Pick<RunnerResult, 'reason' | 'exitCode'>
): Promise<Judgement> {
  const build = await row<FailedRow>(
    `select b.plan, copies.builds as copies, copies.latest = b.id as latest
     from builds b join (select count(*) as builds, max(c.id) as latest from builds c join builds o
       on o.pipeline_id = c.pipeline_id and o.name = c.name where o.id = ?) copies where b.id = ?`,
    [buildId, buildId]
  )
  if (!build) return { allowed: false, again: false }
  const { retry, allowFailureCodes = [] } = planIn(build.plan)
  const failure = { reason: reason ?? null, exitCode: exitCode ?? null }
  return {
    allowed: exitCode !== undefined && allowFailureCodes.includes(exitCode),
    again: Boolean(retry && build.latest === 1 && retriesAgain(retry, failure, build.copies))
  }
}

/** Builds of earlier versions lack some attributes. A damaged plan must not keep its build from failing. */
function planIn(text: string): Partial<PlannedBuild> {
  try {
    return JSON.parse(text) as Partial<PlannedBuild>
  } catch {
    return {}
  }
}

/** Retries a failed build of a locked pipeline. */
export async function repeat(pipeline: LockedPipeline, buildId: number): Promise<void> {
  // This failure needs no attention.
  pipeline.ended.failed.delete(buildId)
  const again = await copyBuild(pipeline, buildId, { userId: null })
  await recount(pipeline)
  await wakeRunners([again])
}
