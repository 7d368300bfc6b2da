// All maintenance tasks. A sysadmin or cron runs a task by name, and the worker runs it on its schedule.

import { oldQueueMinutes, oldTicks } from '../../../queue/old-records.js'
import type { Task } from '../../../queue/task.js'
import { bucketUploads } from '../../ci/builds/files/bucket-uploads.js'
import { expiredArtifacts } from '../../ci/builds/files/expired-artifacts.js'
import { oldBuilds } from '../../ci/builds/files/old-builds.js'
import { dueEnvironments } from '../../ci/environments/auto-stop.js'
import { stuckBuilds } from '../../ci/runners/stuck-builds.js'
import { abandonedBuilds } from '../../ci/runners/wake-ups.js'
import { oldArchives } from '../../code/archives/old-archives.js'
import { oldRefChanges } from '../../code/refs/old-ref-changes.js'
import { repositoryContents } from '../../code/repository/read-contents.js'
import { repositoryUpkeep } from '../../code/repository/upkeep.js'
import { oldAuditEvents } from '../../ground/audit/old-audit-events.js'
import { oldSentForms } from '../../ground/forms/sent-forms.js'
import { oldDeliveries } from '../../ground/hooks/old-deliveries.js'
import { oldRedirects } from '../../ground/paths/old-redirects.js'
import { expiredGrants } from '../../people/credentials/expired-grants.js'
import { expiredSessions } from '../../people/credentials/expired-sessions.js'
import { expiredTokens } from '../../people/credentials/expired-tokens.js'
import { oldPasswordAttempts } from '../../people/credentials/login-throttle.queries.js'
import { oldSignInAddresses } from '../../people/credentials/sign-in-addresses.js'
import { ldapSync } from '../../people/identity/ldap/sync-task.js'
import { scimMemberships } from '../../people/scim/memberships.js'
import { searchWords } from '../../planning/participation/search-words.js'
import { unfinishedImports } from '../../projects/imports/unfinished-imports.js'
import { expiredMembers } from '../../projects/project-groups/expired-members.js'
import { dormantUsers } from '../../reach/accounts/dormant-users.js'
import { oldInvitations } from '../../reach/accounts/invitations/invitations.js'
import { oldSignUps } from '../../reach/accounts/sign-ups.js'
import { oldEvents } from '../../reach/events/old-events.js'
import { oldMailFiles, oldMails } from '../../reach/mail/old-mails.js'
import { oldReceivedMails } from '../../reach/replies/received.js'
import { lfsLinks } from '../lfs/lfs-links.js'
import { lfsObjects } from '../lfs/lfs-objects.js'
import { oldRepositories } from '../machines/old-repositories.js'
import { unfinishedRemovals } from '../removal/unfinished-removals.js'
import { oldJobs, oldRuns } from './old-records.js'
import { orphanedFiles } from './orphaned-files.js'

export const tasks: readonly Task[] = [
  abandonedBuilds,
  bucketUploads,
  dormantUsers,
  dueEnvironments,
  expiredArtifacts,
  expiredMembers,
  expiredGrants,
  expiredSessions,
  expiredTokens,
  ldapSync,
  lfsLinks,
  lfsObjects,
  oldArchives,
  oldAuditEvents,
  oldBuilds,
  oldDeliveries,
  oldEvents,
  oldInvitations,
  oldJobs,
  oldMailFiles,
  oldMails,
  oldPasswordAttempts,
  oldQueueMinutes,
  oldReceivedMails,
  oldRedirects,
  oldRefChanges,
  oldRepositories,
  oldRuns,
  oldSentForms,
  oldSignInAddresses,
  oldSignUps,
  oldTicks,
  orphanedFiles,
  repositoryContents,
  repositoryUpkeep,
  scimMemberships,
  searchWords,
  stuckBuilds,
  unfinishedImports,
  unfinishedRemovals
]
