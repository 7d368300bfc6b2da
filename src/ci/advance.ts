import type { BuildWhen } from './config-types.js'
import { aggregateStatus, type BuildStatus, isComplete, latestBuilds } from './status.js'

export type StageBuild = {
  id: number
  name: string
  stageIndex: number
  status: BuildStatus
  when: BuildWhen
  allowFailure: boolean
}

export type Advance = {
  /** Ids of created builds that become pending. */
  enqueue: number[]
  /** Ids of created builds that become skipped. */
  skip: number[]
  /** The pipeline's status once both are applied. */
  status: BuildStatus
}

/** The statuses of all earlier stages that let a build run. A manual build waits as skipped until somebody plays it. */
const runsAfter: Record<BuildWhen, readonly BuildStatus[]> = {
  on_success: ['success', 'skipped'],
  on_failure: ['failed'],
  always: ['success', 'failed', 'skipped'],
  manual: []
}

/**
 * What happens next in a pipeline, given all its builds (superseded ones are left out here). To be called after creation
 * and whenever a build has become complete. The result is stable: applied, it leaves nothing more to do.
 */
export function advance(builds: readonly StageBuild[]): Advance {
  const latest = latestBuilds(builds).map(build => ({ ...build }))
  const enqueue: number[] = []
  const skip: number[] = []
  // A stage depends on earlier stages alone, so one ascending walk that sees its own changes reaches the stable state.
  for (const stage of [...new Set(latest.map(build => build.stageIndex))].sort((a, b) => a - b)) {
    const earlier = latest.filter(build => build.stageIndex < stage)
    const prior = earlier.length === 0 ? 'success' : aggregateStatus(earlier)
    if (!isComplete(prior)) break
    for (const build of latest.filter(build => build.stageIndex === stage && build.status === 'created')) {
      const runs = runsAfter[build.when].includes(prior)
      build.status = runs ? 'pending' : 'skipped'
      ;(runs ? enqueue : skip).push(build.id)
    }
  }
  return { enqueue, skip, status: aggregateStatus(latest) }
}
