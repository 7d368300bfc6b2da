// The builds of a pipeline by stage, as pages and commands show them.
import { aggregateStatus, type BuildStatus, latestBuilds } from '../../../../ci/status.js'
import type { BuildRow } from '../builds.queries.js'

export interface ShownStage<T extends BuildRow = BuildRow> {
  readonly name: string
  readonly status: BuildStatus
  /** The builds that count: the newest of each name. */
  readonly builds: readonly T[]
  /** Builds that were retried, and so replaced by newer ones. */
  readonly replaced: readonly T[]
}

/** Groups builds that are in the order of their stages. */
export function stagesOf<T extends BuildRow>(builds: readonly T[]): ShownStage<T>[] {
  const latest = new Set(latestBuilds(builds))
  return [...Map.groupBy(builds, ({ stage }) => stage)].map(([name, all]) => {
    const counting = all.filter(build => latest.has(build))
    return {
      name,
      status: aggregateStatus(
        counting.map(build => ({ status: build.status as BuildStatus, allowFailure: build.allow_failure === 1 }))
      ),
      builds: counting,
      replaced: all.filter(build => !latest.has(build))
    }
  })
}
