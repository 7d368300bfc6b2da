// All resources of the API, one line for each.
import type { FastifyPluginAsync } from 'fastify'
import { buildActionRoutes } from '../areas/ci/builds/build-actions.routes.js'
import { buildRoutes } from '../areas/ci/builds/builds.routes.js'
import { pipelineActionRoutes } from '../areas/ci/builds/pipeline-actions.routes.js'
import { deploymentRoutes } from '../areas/ci/environments/deployments.routes.js'
import { environmentRoutes } from '../areas/ci/environments/environments.routes.js'
import { idTokenRoutes } from '../areas/ci/id-tokens/id-tokens.routes.js'
import { commitStatusRoutes } from '../areas/ci/pipelines/commit-statuses.routes.js'
import { lintRoutes } from '../areas/ci/pipelines/lint.routes.js'
import { pipelineRoutes } from '../areas/ci/pipelines/pipelines.routes.js'
import { triggerCallRoutes, triggerRoutes } from '../areas/ci/pipelines/triggers.routes.js'
import { projectRunnerRoutes } from '../areas/ci/runners/project-runners.routes.js'
import { runnerV1Routes } from '../areas/ci/runners/runner-v1.routes.js'
import { runnerV4Routes } from '../areas/ci/runners/runner-v4.routes.js'
import { runnerRoutes } from '../areas/ci/runners/runners.routes.js'
import { templateRoutes } from '../areas/ci/templates/templates.routes.js'
import { variableRoutes } from '../areas/ci/variables/variables.routes.js'
import { archiveRoutes } from '../areas/code/archives/archives.routes.js'
import { historyRoutes } from '../areas/code/history/history.routes.js'
import { mirrorHookRoutes, pullMirrorRoutes, pushMirrorRoutes } from '../areas/code/mirrors/mirrors.routes.js'
import { branchRoutes } from '../areas/code/refs/branches.routes.js'
import { tagRoutes } from '../areas/code/refs/tags.routes.js'
import { commitWriteRoutes } from '../areas/code/repository/commit-writes.routes.js'
import { repositoryRoutes } from '../areas/code/repository/repository.routes.js'
import { auditRoutes } from '../areas/ground/audit/audit.routes.js'
import { deliveryRoutes } from '../areas/ground/hooks/deliveries.routes.js'
import { hookRoutes } from '../areas/ground/hooks/hooks.routes.js'
import { projectHookRoutes } from '../areas/ground/hooks/project-hooks.routes.js'
import { settingsRoutes } from '../areas/ground/settings/settings.routes.js'
import { versionRoutes } from '../areas/ground/settings/version.routes.js'
import { migrationRoutes } from '../areas/migrate/migrations/migrations.routes.js'
import { applicationRoutes } from '../areas/people/credentials/oauth-applications.routes.js'
import { sessionRoutes } from '../areas/people/credentials/session.routes.js'
import { tokenRoutes } from '../areas/people/credentials/tokens.routes.js'
import { groupRoutes } from '../areas/people/groups/groups.routes.js'
import { namespaceRoutes } from '../areas/people/groups/namespaces.routes.js'
import { accessRequestRoutes } from '../areas/people/members/access-requests.routes.js'
import { memberRoutes } from '../areas/people/members/members.routes.js'
import { scimRoutes } from '../areas/people/scim/scim.routes.js'
import { emailRoutes } from '../areas/people/users/emails.routes.js'
import { keyRoutes } from '../areas/people/users/keys.routes.js'
import { userRoutes } from '../areas/people/users/users.routes.js'
import { boardRoutes } from '../areas/planning/boards/boards.routes.js'
import { awardRoutes } from '../areas/planning/discussion/awards.routes.js'
import { commitCommentRoutes } from '../areas/planning/discussion/commit-comments.routes.js'
import { mergeRequestCommentRoutes } from '../areas/planning/discussion/merge-request-comments.routes.js'
import { noteRoutes } from '../areas/planning/discussion/notes.routes.js'
import { issueListRoutes } from '../areas/planning/issues/issue-lists.routes.js'
import { issueTimeRoutes } from '../areas/planning/issues/issue-time.routes.js'
import { issueRoutes } from '../areas/planning/issues/issues.routes.js'
import { labelRoutes } from '../areas/planning/labels/labels.routes.js'
import { acceptRoutes } from '../areas/planning/merge-requests/accept.routes.js'
import { changeRoutes } from '../areas/planning/merge-requests/changes.routes.js'
import { mergeRequestRoutes } from '../areas/planning/merge-requests/merge-requests.routes.js'
import { milestoneMergeRequestRoutes } from '../areas/planning/merge-requests/milestones.routes.js'
import { mergeRequestParticipationRoutes } from '../areas/planning/merge-requests/participation.routes.js'
import { milestoneRoutes } from '../areas/planning/milestones/milestones.routes.js'
import { forkRoutes } from '../areas/projects/imports/forks.routes.js'
import { shareRoutes } from '../areas/projects/project-groups/shares.routes.js'
import { transferRoutes } from '../areas/projects/project-groups/transfer.routes.js'
import { groupProjectRoutes } from '../areas/projects/projects/group-projects.routes.js'
import { projectRoutes } from '../areas/projects/projects/projects.routes.js'
import { serviceRoutes } from '../areas/projects/services/services.routes.js'
import { personalSnippetRoutes } from '../areas/projects/snippets/personal-snippets.routes.js'
import { snippetRoutes } from '../areas/projects/snippets/snippets.routes.js'
import { deployKeyRoutes } from '../areas/projects/ssh/deploy-keys.routes.js'
import { uploadedFileRoutes, uploadRoutes } from '../areas/projects/uploads/uploads.routes.js'
import { broadcastRoutes } from '../areas/reach/broadcasts/broadcasts.routes.js'
import { eventRoutes } from '../areas/reach/events/events.routes.js'
import { notificationSettingRoutes } from '../areas/reach/notifications/settings.routes.js'
import { todoRoutes } from '../areas/reach/todos/todos.routes.js'
import { watchedBuildRoutes } from '../areas/upkeep/jobs/dashboard-builds.routes.js'
import { jobMetricsRoutes } from '../areas/upkeep/jobs/job-metrics.routes.js'
import { jobRoutes } from '../areas/upkeep/jobs/jobs.routes.js'
import { groupDeletionRoutes } from '../areas/upkeep/removal/group-deletion.routes.js'
import { projectRemovalRoutes } from '../areas/upkeep/removal/project-removal.routes.js'
import { userDeletionRoutes } from '../areas/upkeep/removal/user-deletion.routes.js'

export const apiRoutes: FastifyPluginAsync = async app => {
  await app.register(sessionRoutes)
  await app.register(userRoutes)
  await app.register(userDeletionRoutes)
  await app.register(emailRoutes)
  await app.register(keyRoutes)
  await app.register(tokenRoutes)
  await app.register(applicationRoutes)
  await app.register(groupRoutes)
  await app.register(groupDeletionRoutes)
  await app.register(namespaceRoutes)
  await app.register(memberRoutes)
  await app.register(accessRequestRoutes)
  await app.register(projectRoutes)
  await app.register(shareRoutes)
  await app.register(transferRoutes)
  await app.register(forkRoutes)
  await app.register(projectRemovalRoutes)
  await app.register(deployKeyRoutes)
  await app.register(uploadRoutes)
  await app.register(eventRoutes)
  await app.register(versionRoutes)
  await app.register(groupProjectRoutes)
  await app.register(repositoryRoutes)
  await app.register(historyRoutes)
  await app.register(archiveRoutes)
  await app.register(commitWriteRoutes)
  await app.register(commitCommentRoutes)
  await app.register(branchRoutes)
  await app.register(tagRoutes)
  await app.register(pipelineRoutes)
  await app.register(commitStatusRoutes)
  await app.register(pipelineActionRoutes)
  await app.register(lintRoutes)
  await app.register(triggerRoutes)
  await app.register(pushMirrorRoutes)
  await app.register(pullMirrorRoutes)
  await app.register(environmentRoutes)
  await app.register(deploymentRoutes)
  await app.register(triggerCallRoutes)
  await app.register(mirrorHookRoutes)
  await app.register(buildRoutes)
  await app.register(buildActionRoutes)
  await app.register(variableRoutes)
  await app.register(labelRoutes)
  await app.register(milestoneRoutes)
  await app.register(issueListRoutes)
  await app.register(issueRoutes)
  await app.register(issueTimeRoutes)
  await app.register(boardRoutes)
  await app.register(runnerRoutes)
  await app.register(projectRunnerRoutes)
  await app.register(mergeRequestRoutes)
  await app.register(acceptRoutes)
  await app.register(changeRoutes)
  await app.register(mergeRequestParticipationRoutes)
  await app.register(milestoneMergeRequestRoutes)
  await app.register(snippetRoutes)
  await app.register(personalSnippetRoutes)
  await app.register(noteRoutes)
  await app.register(mergeRequestCommentRoutes)
  await app.register(awardRoutes)
  await app.register(todoRoutes)
  await app.register(notificationSettingRoutes)
  await app.register(hookRoutes)
  await app.register(deliveryRoutes)
  await app.register(projectHookRoutes)
  await app.register(serviceRoutes)
  await app.register(auditRoutes)
  await app.register(jobMetricsRoutes)
  await app.register(templateRoutes)
  await app.register(settingsRoutes)
  await app.register(jobRoutes)
  await app.register(watchedBuildRoutes)
  await app.register(broadcastRoutes)
  await app.register(migrationRoutes)
}

/** Routes outside the API: browsers open the paths of projects, verifiers of signed tokens fetch the keys. */
export const fileRoutes: FastifyPluginAsync = async app => {
  await app.register(uploadedFileRoutes)
  await app.register(idTokenRoutes)
}

/** The routes for directories that manage accounts: they have their own tokens. */
export const directoryRoutes: FastifyPluginAsync = async app => {
  await app.register(scimRoutes, { prefix: '/scim/v2' })
}

/** The routes for runners: they have their own tokens, and their protocol defines the paths. */
export const runnerProtocolRoutes: FastifyPluginAsync = async app => {
  await app.register(runnerV4Routes, { prefix: '/api/v4' })
  await app.register(runnerV1Routes, { prefix: '/ci/api/v1' })
}
