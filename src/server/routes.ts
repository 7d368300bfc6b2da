// All resources of the API, one line for each.
import type { FastifyPluginAsync } from 'fastify'
import { archiveRoutes } from '../areas/archives/archives.routes.js'
import { auditRoutes } from '../areas/audit/audit.routes.js'
import { boardRoutes } from '../areas/boards/boards.routes.js'
import { broadcastRoutes } from '../areas/broadcasts/broadcasts.routes.js'
import { buildActionRoutes } from '../areas/builds/build-actions.routes.js'
import { buildRoutes } from '../areas/builds/builds.routes.js'
import { pipelineActionRoutes } from '../areas/builds/pipeline-actions.routes.js'
import { applicationRoutes } from '../areas/credentials/oauth-applications.routes.js'
import { sessionRoutes } from '../areas/credentials/session.routes.js'
import { tokenRoutes } from '../areas/credentials/tokens.routes.js'
import { awardRoutes } from '../areas/discussion/awards.routes.js'
import { mergeRequestCommentRoutes } from '../areas/discussion/merge-request-comments.routes.js'
import { noteRoutes } from '../areas/discussion/notes.routes.js'
import { deploymentRoutes } from '../areas/environments/deployments.routes.js'
import { environmentRoutes } from '../areas/environments/environments.routes.js'
import { eventRoutes } from '../areas/events/events.routes.js'
import { groupRoutes } from '../areas/groups/groups.routes.js'
import { namespaceRoutes } from '../areas/groups/namespaces.routes.js'
import { historyRoutes } from '../areas/history/history.routes.js'
import { deliveryRoutes } from '../areas/hooks/deliveries.routes.js'
import { hookRoutes } from '../areas/hooks/hooks.routes.js'
import { projectHookRoutes } from '../areas/hooks/project-hooks.routes.js'
import { idTokenRoutes } from '../areas/id-tokens/id-tokens.routes.js'
import { forkRoutes } from '../areas/imports/forks.routes.js'
import { issueListRoutes } from '../areas/issues/issue-lists.routes.js'
import { issueTimeRoutes } from '../areas/issues/issue-time.routes.js'
import { issueRoutes } from '../areas/issues/issues.routes.js'
import { jobMetricsRoutes } from '../areas/jobs/job-metrics.routes.js'
import { jobRoutes } from '../areas/jobs/jobs.routes.js'
import { watchedBuildRoutes } from '../areas/jobs/watched-builds.routes.js'
import { labelRoutes } from '../areas/labels/labels.routes.js'
import { accessRequestRoutes } from '../areas/members/access-requests.routes.js'
import { memberRoutes } from '../areas/members/members.routes.js'
import { acceptRoutes } from '../areas/merge-requests/accept.routes.js'
import { changeRoutes } from '../areas/merge-requests/changes.routes.js'
import { mergeRequestRoutes } from '../areas/merge-requests/merge-requests.routes.js'
import { milestoneMergeRequestRoutes } from '../areas/merge-requests/milestones.routes.js'
import { mergeRequestParticipationRoutes } from '../areas/merge-requests/participation.routes.js'
import { milestoneRoutes } from '../areas/milestones/milestones.routes.js'
import { notificationSettingRoutes } from '../areas/notifications/settings.routes.js'
import { commitStatusRoutes } from '../areas/pipelines/commit-statuses.routes.js'
import { lintRoutes } from '../areas/pipelines/lint.routes.js'
import { pipelineRoutes } from '../areas/pipelines/pipelines.routes.js'
import { triggerCallRoutes, triggerRoutes } from '../areas/pipelines/triggers.routes.js'
import { shareRoutes } from '../areas/project-groups/shares.routes.js'
import { transferRoutes } from '../areas/project-groups/transfer.routes.js'
import { groupProjectRoutes } from '../areas/projects/group-projects.routes.js'
import { projectRoutes } from '../areas/projects/projects.routes.js'
import { branchRoutes } from '../areas/refs/branches.routes.js'
import { tagRoutes } from '../areas/refs/tags.routes.js'
import { groupDeletionRoutes } from '../areas/removal/group-deletion.routes.js'
import { projectRemovalRoutes } from '../areas/removal/project-removal.routes.js'
import { userDeletionRoutes } from '../areas/removal/user-deletion.routes.js'
import { commitCommentRoutes } from '../areas/repository/commit-comments.routes.js'
import { commitWriteRoutes } from '../areas/repository/commit-writes.routes.js'
import { repositoryRoutes } from '../areas/repository/repository.routes.js'
import { projectRunnerRoutes } from '../areas/runners/project-runners.routes.js'
import { runnerV1Routes } from '../areas/runners/runner-v1.routes.js'
import { runnerV4Routes } from '../areas/runners/runner-v4.routes.js'
import { runnerRoutes } from '../areas/runners/runners.routes.js'
import { serviceRoutes } from '../areas/services/services.routes.js'
import { settingsRoutes } from '../areas/settings/settings.routes.js'
import { versionRoutes } from '../areas/settings/version.routes.js'
import { personalSnippetRoutes } from '../areas/snippets/personal-snippets.routes.js'
import { snippetRoutes } from '../areas/snippets/snippets.routes.js'
import { deployKeyRoutes } from '../areas/ssh/deploy-keys.routes.js'
import { templateRoutes } from '../areas/templates/templates.routes.js'
import { todoRoutes } from '../areas/todos/todos.routes.js'
import { uploadedFileRoutes, uploadRoutes } from '../areas/uploads/uploads.routes.js'
import { emailRoutes } from '../areas/users/emails.routes.js'
import { keyRoutes } from '../areas/users/keys.routes.js'
import { userRoutes } from '../areas/users/users.routes.js'
import { variableRoutes } from '../areas/variables/variables.routes.js'

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
  await app.register(environmentRoutes)
  await app.register(deploymentRoutes)
  await app.register(triggerCallRoutes)
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
}

/** What others ask for outside of the API: browsers by the paths of projects, verifiers of signed tokens. */
export const fileRoutes: FastifyPluginAsync = async app => {
  await app.register(uploadedFileRoutes)
  await app.register(idTokenRoutes)
}

/** What runners ask: they have tokens of their own, and paths that they do not let us choose. */
export const runnerProtocolRoutes: FastifyPluginAsync = async app => {
  await app.register(runnerV4Routes, { prefix: '/api/v4' })
  await app.register(runnerV1Routes, { prefix: '/ci/api/v1' })
}
