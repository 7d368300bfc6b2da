// Every maintenance task: a sysadmin or cron runs it by name, and the worker runs it by its schedule.

import type { Task } from '../../queue/task.js'
import { oldSignUps } from '../accounts/sign-ups.js'
import { oldArchives } from '../archives/old-archives.js'
import { bucketUploads } from '../builds/files/bucket-uploads.js'
import { expiredArtifacts } from '../builds/files/expired-artifacts.js'
import { expiredGrants } from '../credentials/expired-grants.js'
import { expiredSessions } from '../credentials/expired-sessions.js'
import { expiredTokens } from '../credentials/expired-tokens.js'
import { oldSignInAddresses } from '../credentials/sign-in-addresses.js'
import { dueEnvironments } from '../environments/auto-stop.js'
import { oldDeliveries } from '../hooks/old-deliveries.js'
import { unfinishedImports } from '../imports/unfinished-imports.js'
import { oldMailFiles, oldMails } from '../mail/old-mails.js'
import { expiredMembers } from '../members/expired-members.js'
import { oldRefChanges } from '../refs/old-ref-changes.js'
import { unfinishedRemovals } from '../removal/unfinished-removals.js'
import { repositoryUpkeep } from '../repository/upkeep.js'
import { stuckBuilds } from '../runners/stuck-builds.js'
import { abandonedBuilds } from '../runners/wake-ups.js'
import { oldAuditEvents, oldJobs, oldPasswordAttempts, oldQueueMinutes, oldRuns, oldTicks } from './old-records.js'
import { orphanedFiles } from './orphaned-files.js'

export const tasks: readonly Task[] = [
  abandonedBuilds,
  bucketUploads,
  dueEnvironments,
  expiredArtifacts,
  expiredMembers,
  expiredGrants,
  expiredSessions,
  expiredTokens,
  oldArchives,
  oldAuditEvents,
  oldDeliveries,
  oldJobs,
  oldMailFiles,
  oldMails,
  oldPasswordAttempts,
  oldQueueMinutes,
  oldRefChanges,
  oldRuns,
  oldSignInAddresses,
  oldSignUps,
  oldTicks,
  orphanedFiles,
  repositoryUpkeep,
  stuckBuilds,
  unfinishedImports,
  unfinishedRemovals
]
