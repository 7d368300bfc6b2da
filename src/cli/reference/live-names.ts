/** What `gitstead __names KIND` can list: the names that differ from appliance to appliance. */
export const LIVE_NAMES = [
  'users',
  'groups',
  'namespaces',
  'projects',
  'sources',
  'hooks',
  'applications',
  'broadcasts',
  'backups',
  'jobs',
  'builds',
  'endedBuilds',
  'manualBuilds',
  'runningPipelines',
  'endedPipelines',
  'runners'
] as const
export type LiveNames = (typeof LIVE_NAMES)[number]
