// Calculates the status of a set of builds: of a stage, of all earlier stages, or of a pipeline.

export const BUILD_STATUSES = ['created', 'pending', 'running', 'success', 'failed', 'canceled', 'skipped'] as const
export type BuildStatus = (typeof BUILD_STATUSES)[number]

/** How many builds have each status. Allowed failures are counted as `ignored` instead. */
export type StatusCounts = { [Kind in BuildStatus | 'ignored']: number }

export interface JudgedBuild {
  readonly status: BuildStatus
  readonly allowFailure: boolean
}

const COMPLETE: ReadonlySet<BuildStatus> = new Set(['success', 'failed', 'canceled', 'skipped'])

/** Whether nothing more happens automatically. Skipped counts too, although somebody may still play or retry such a build. */
export function isComplete(status: BuildStatus): boolean {
  return COMPLETE.has(status)
}

/** Counts of no builds at all, as a start for sums. */
export function noBuilds(): StatusCounts {
  return { created: 0, pending: 0, running: 0, success: 0, failed: 0, canceled: 0, skipped: 0, ignored: 0 }
}

/** The counter of a build: its status, or `ignored` when it failed or was canceled and is allowed to. */
export function counterOf({ status, allowFailure }: JudgedBuild): keyof StatusCounts {
  return allowFailure && (status === 'failed' || status === 'canceled') ? 'ignored' : status
}

export function countBuilds(builds: readonly JudgedBuild[]): StatusCounts {
  const counts = noBuilds()
  for (const build of builds) counts[counterOf(build)] += 1
  return counts
}

/**
 * One status for several builds, which should be the latest of each name. Without builds it is `skipped`. Ignored
 * failures do not count; if only such builds are left, the status is `success` (with warnings).
 */
export function aggregateStatus(builds: readonly JudgedBuild[]): BuildStatus {
  return statusOfCounts(countBuilds(builds))
}

/** The same for builds of which only the counts are known. */
export function statusOfCounts(counts: StatusCounts): BuildStatus {
  const found = BUILD_STATUSES.filter(status => counts[status] > 0)
  const only = (...allowed: BuildStatus[]) => found.every(status => allowed.includes(status))
  if (found.length === 0) return counts.ignored > 0 ? 'success' : 'skipped'
  if (only('skipped')) return 'skipped'
  if (only('created')) return 'created'
  if (only('success', 'skipped')) return 'success'
  if (only('success', 'skipped', 'canceled')) return 'canceled'
  if (only('created', 'skipped', 'pending')) return 'pending'
  if (found.includes('running') || found.includes('pending') || found.includes('created')) return 'running'
  return 'failed'
}

/** The builds that count: for each name the one with the highest id; ordered by id. */
export function latestBuilds<T extends { id: number; name: string }>(builds: readonly T[]): T[] {
  const latest = new Map<string, T>()
  for (const build of builds) {
    const known = latest.get(build.name)
    if (!known || known.id < build.id) latest.set(build.name, build)
  }
  return [...latest.values()].sort((a, b) => a.id - b.id)
}
