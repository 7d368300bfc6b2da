// All migrations in order. Only append to this list; never edit a migration that has landed.

import { accounts } from './0001-accounts.js'
import { projects } from './0002-projects.js'
import { jobs } from './0003-jobs.js'
import { builds } from './0004-builds.js'
import { hooks } from './0005-hooks.js'
import { administration } from './0006-administration.js'
import { access } from './0007-access.js'
import { happenings } from './0008-happenings.js'
import { runners } from './0009-runners.js'
import { identifiers } from './0010-identifiers.js'
import { storedDates } from './0013-stored-dates.js'
import { lanes } from './0016-lanes.js'
import { integrity } from './0017-integrity.js'
import { maintenanceMode } from './0020-maintenance-mode.js'
import { trust } from './0022-trust.js'
import { groups } from './0025-groups.js'
import { projectRelations } from './0026-project-relations.js'
import { oauth } from './0027-oauth.js'
import { userUses } from './0028-user-uses.js'
import { uploadCounts } from './0029-upload-counts.js'
import { deployKeys } from './0031-deploy-keys.js'
import { branchesAndTags } from './0032-branches-and-tags.js'
import { variables } from './0033-variables.js'
import { triggers } from './0034-triggers.js'
import { environments } from './0035-environments.js'
import { outsideRunners } from './0036-outside-runners.js'
import { commitStatuses } from './0037-commit-statuses.js'
import { ciKeys } from './0038-ci-keys.js'
import { schedules } from './0040-schedules.js'
import { planning } from './0042-planning.js'
import { boards } from './0043-boards.js'
import { issuesOfAuthors } from './0044-issues-of-authors.js'
import { mergeRequests } from './0045-merge-requests.js'
import { snippets } from './0048-snippets.js'
import { notes } from './0049-notes.js'
import { services } from './0050-services.js'
import { todos } from './0051-todos.js'
import { notificationSettings } from './0052-notification-settings.js'
import { mail } from './0053-mail.js'
import { confirmations } from './0054-confirmations.js'
import { ciFile } from './0056-ci-file.js'
import { placesOfLabels } from './0058-places-of-labels.js'
import { protectedRunners } from './0060-protected-runners.js'
import { idTokens } from './0061-id-tokens.js'
import { followedPipelines } from './0062-followed-pipelines.js'
import { scopesOfVariables } from './0075-scopes-of-variables.js'
import { tailsOfTraces } from './0076-tails-of-traces.js'
import { expiringArtifacts } from './0077-expiring-artifacts.js'
import { keyFingerprint } from './0080-key-fingerprint.js'
import { contentsChecks } from './0081-contents-checks.js'
import { machines } from './0085-machines.js'
import { heldRows } from './0086-held-rows.js'
import { soleDeployKeys } from './0090-sole-deploy-keys.js'
import { unsubscribedPipelines } from './0091-unsubscribed-pipelines.js'
import { pushOptions } from './0095-push-options.js'
import { reservedPaths } from './0100-reserved-paths.js'
import { maskedVariables } from './0102-masked-variables.js'
import { placesOfProjects } from './0106-places-of-projects.js'
import { membershipsBySource } from './0107-memberships-by-source.js'
import { trigrams } from './0110-trigrams.js'
import { contentVersions } from './0115-content-versions.js'
import { mailAuthors } from './0118-mail-authors.js'
import { receivedMails } from './0120-received-mails.js'
import { sentForms } from './0122-sent-forms.js'
import { storages } from './0130-storages.js'
import { drainedMachines } from './0131-drained-machines.js'
import { traceParts } from './0133-trace-parts.js'
import { growingTables } from './0137-growing-tables.js'
import { searchWords } from './0140-search-words.js'
import { signIns } from './0142-sign-ins.js'
import { givenMembers } from './0143-given-members.js'
import { seenIdentities } from './0144-seen-identities.js'
import { secondFactors } from './0145-second-factors.js'
import { blockReasons } from './0146-block-reasons.js'
import { scim } from './0147-scim.js'
import { sessionsOfProviders } from './0148-sessions-of-providers.js'
import { invitations } from './0151-invitations.js'
import { movedRepositories } from './0153-moved-repositories.js'
import { archivedRecords } from './0155-archived-records.js'
import { replicas } from './0156-replicas.js'
import { lfs } from './0157-lfs.js'
import { archiveRecords } from './0160-archive-records.js'
import { lfsScans } from './0161-lfs-scans.js'
import { mirrors } from './0163-mirrors.js'
import { givenKeys } from './0166-given-keys.js'
import { migrated } from './0171-migrated.js'
import { heldObjects } from './0172-held-objects.js'
import { decidedRights } from './0176-decided-rights.js'
import { scimVersions } from './0177-scim-versions.js'
import { preparedMigrations } from './0184-migrations.js'
import { lfsSizes } from './0191-lfs-sizes.js'
import { leaseLengths } from './0193-lease-lengths.js'
import { migratedBy } from './0194-migrated-by.js'
import { projectRowVersion } from './0195-project-row-version.js'
import { buildRowVersions } from './0196-build-row-versions.js'
import type { Migration } from './migration.js'

export const migrations: readonly Migration[] = [
  accounts,
  projects,
  jobs,
  builds,
  hooks,
  administration,
  access,
  happenings,
  runners,
  identifiers,
  storedDates,
  lanes,
  integrity,
  maintenanceMode,
  trust,
  groups,
  projectRelations,
  oauth,
  userUses,
  uploadCounts,
  deployKeys,
  branchesAndTags,
  variables,
  triggers,
  environments,
  outsideRunners,
  commitStatuses,
  ciKeys,
  schedules,
  planning,
  boards,
  issuesOfAuthors,
  mergeRequests,
  snippets,
  notes,
  services,
  todos,
  notificationSettings,
  mail,
  confirmations,
  ciFile,
  placesOfLabels,
  protectedRunners,
  idTokens,
  followedPipelines,
  scopesOfVariables,
  tailsOfTraces,
  expiringArtifacts,
  keyFingerprint,
  contentsChecks,
  machines,
  heldRows,
  soleDeployKeys,
  unsubscribedPipelines,
  pushOptions,
  reservedPaths,
  maskedVariables,
  placesOfProjects,
  membershipsBySource,
  trigrams,
  contentVersions,
  mailAuthors,
  receivedMails,
  sentForms,
  storages,
  drainedMachines,
  traceParts,
  growingTables,
  searchWords,
  signIns,
  givenMembers,
  seenIdentities,
  secondFactors,
  blockReasons,
  scim,
  sessionsOfProviders,
  invitations,
  movedRepositories,
  archivedRecords,
  replicas,
  lfs,
  archiveRecords,
  lfsScans,
  mirrors,
  givenKeys,
  migrated,
  heldObjects,
  decidedRights,
  scimVersions,
  preparedMigrations,
  lfsSizes,
  leaseLengths,
  migratedBy,
  projectRowVersion,
  buildRowVersions
]
