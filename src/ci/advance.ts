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
  /** The status of the pipeline after both changes. */
  status: BuildStatus
}

/**
 * A build runs when the common status of all earlier stages is one of these. A manual build becomes skipped and waits
 * until somebody plays it.
 */
const runsAfter: Record<BuildWhen, readonly BuildStatus[]> = {
  on_success: ['success', 'skipped'],
  on_failure: ['failed'],
  always: ['success', 'failed', 'skipped'],
  manual: []
}

/**
 * The next step of a pipeline, from all its builds; builds that a newer one of the same name replaces are ignored. Call
 * it after the pipeline is created and whenever a build is complete. The result is stable: after it is applied, a
 * second call changes nothing.
 */
export function advance(builds: readonly StageBuild[]): Advance {
  const latest = latestBuilds(builds).map(build => ({ ...build }))
  const enqueue: number[] = []
  const skip: number[] = []
  // A stage depends only on earlier stages, so one ascending walk that sees its own changes reaches the stable state.
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
