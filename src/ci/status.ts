// Calculates the status of a set of builds: of a stage, of all earlier stages, or of a pipeline.

export const buildStatuses = ['created', 'pending', 'running', 'success', 'failed', 'canceled', 'skipped'] as const
export type BuildStatus = (typeof buildStatuses)[number]

const complete: ReadonlySet<BuildStatus> = new Set(['success', 'failed', 'canceled', 'skipped'])

/**
 * Whether nothing more happens by itself. Skipped counts too, although somebody may still play or retry such a build.
 */
export function isComplete(status: BuildStatus): boolean {
  return complete.has(status)
}

/**
 * One status for several builds, which should be the latest of each name. Without builds it is `skipped`. Ignored
 * failures do not count; if only such builds are left, the status is `success` (with warnings).
 */
export function aggregateStatus(builds: readonly { status: BuildStatus; allowFailure: boolean }[]): BuildStatus {
  if (builds.length === 0) return 'skipped'
  const statuses = new Set(builds.filter(build => !isIgnored(build)).map(build => build.status))
  const only = (...allowed: BuildStatus[]) => [...statuses].every(status => allowed.includes(status))
  if (statuses.size === 0) return 'success'
  if (only('skipped')) return 'skipped'
  if (only('created')) return 'created'
  if (only('success', 'skipped')) return 'success'
  if (only('success', 'skipped', 'canceled')) return 'canceled'
  if (only('created', 'skipped', 'pending')) return 'pending'
  if (statuses.has('running') || statuses.has('pending') || statuses.has('created')) return 'running'
  return 'failed'
}

/** Whether the build failed or was canceled, and `allow_failure` says that this does not matter. */
export function isIgnored(build: { status: BuildStatus; allowFailure: boolean }): boolean {
  return build.allowFailure && (build.status === 'failed' || build.status === 'canceled')
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
