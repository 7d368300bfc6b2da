// What a failure of a build means, as the CI file says: nobody minds it, or the build is repeated by itself.

import { retriesAgain } from '../../ci/keys/retry.js'
import type { PlannedBuild } from '../../ci/plan.js'
import { row } from '../../db/sql.js'
import type { RunnerResult } from '../../runner/job.js'
import { type LockedPipeline, recount } from '../pipelines/locked-pipeline.js'
import { wakeRunners } from '../pipelines/wake-runners.js'
import { copyBuild } from './copies.js'

interface FailedRow {
  readonly plan: string
  /** How many builds of this name the pipeline has, this one included. */
  readonly copies: number
  /** 0 when somebody has repeated the build already. */
  readonly latest: number
}

/** What becomes of a failed build. */
export interface Judgement {
  /** Its exit code is one that the file allows. */
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

/** Builds of earlier versions lack some of it. A plan that is damaged must not keep its build from failing. */
function planIn(text: string): Partial<PlannedBuild> {
  try {
    return JSON.parse(text) as Partial<PlannedBuild>
  } catch {
    return {}
  }
}

/** Repeats a failed build of a locked pipeline. */
export async function repeat(pipeline: LockedPipeline, buildId: number): Promise<void> {
  // Nobody needs to look at this failure.
  pipeline.ended.failed.delete(buildId)
  const again = await copyBuild(pipeline, buildId, { userId: null })
  await recount(pipeline)
  await wakeRunners([again])
}
