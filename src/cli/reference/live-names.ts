/** The kinds that `gitstead __names KIND` can list: names that differ between appliances. */
export const LIVE_NAMES = [
  'users',
  'groups',
  'namespaces',
  'projects',
  'sources',
  'hooks',
  'applications',
  'broadcasts',
  'machines',
  'backups',
  'jobs',
  'builds',
  'endedBuilds',
  'manualBuilds',
  'runningPipelines',
  'endedPipelines',
  'runners',
  'schedules',
  'mirrors'
] as const
export type LiveNames = (typeof LIVE_NAMES)[number]
