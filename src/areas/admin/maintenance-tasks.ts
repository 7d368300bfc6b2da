// Every maintenance task: what cron runs by name, and the worker by its schedule.
import { abandonedBuilds } from '../builds/abandoned-builds.js'
import { expiredArtifacts } from '../builds/expired-artifacts.js'
import { unfinishedRemovals } from '../projects/unfinished-removals.js'
import { oldRefChanges } from '../repository/old-ref-changes.js'
import { repositoryUpkeep } from '../repository/upkeep.js'
import { expiredSessions } from '../users/expired-sessions.js'
import { expiredTokens } from '../users/expired-tokens.js'
import type { Task } from './maintenance-task.js'
import { oldDeliveries } from './old-deliveries.js'
import { oldAuditEvents, oldJobs, oldQueueMinutes, oldRuns, oldTicks } from './old-records.js'
import { orphanedFiles } from './orphaned-files.js'

export const tasks: readonly Task[] = [
  abandonedBuilds,
  expiredArtifacts,
  expiredSessions,
  expiredTokens,
  oldAuditEvents,
  oldDeliveries,
  oldJobs,
  oldQueueMinutes,
  oldRefChanges,
  oldRuns,
  oldTicks,
  orphanedFiles,
  repositoryUpkeep,
  unfinishedRemovals
]
