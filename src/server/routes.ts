// All resources of the API, one line for each.
import type { FastifyPluginAsync } from 'fastify'
import { auditRoutes } from '../areas/audit/audit.routes.js'
import { broadcastRoutes } from '../areas/broadcasts/broadcasts.routes.js'
import { buildRoutes } from '../areas/builds/builds.routes.js'
import { applicationRoutes } from '../areas/credentials/oauth-applications.routes.js'
import { sessionRoutes } from '../areas/credentials/session.routes.js'
import { tokenRoutes } from '../areas/credentials/tokens.routes.js'
import { deliveryRoutes } from '../areas/hooks/deliveries.routes.js'
import { hookRoutes } from '../areas/hooks/hooks.routes.js'
import { jobMetricsRoutes } from '../areas/jobs/job-metrics.routes.js'
import { jobRoutes } from '../areas/jobs/jobs.routes.js'
import { pipelineRoutes } from '../areas/pipelines/pipelines.routes.js'
import { groupProjectRoutes } from '../areas/projects/group-projects.routes.js'
import { projectRoutes } from '../areas/projects/projects.routes.js'
import { userDeletionRoutes } from '../areas/removal/user-deletion.routes.js'
import { repositoryRoutes } from '../areas/repository/repository.routes.js'
import { settingsRoutes } from '../areas/settings/settings.routes.js'
import { templateRoutes } from '../areas/templates/templates.routes.js'
import { emailRoutes } from '../areas/users/emails.routes.js'
import { keyRoutes } from '../areas/users/keys.routes.js'
import { userRoutes } from '../areas/users/users.routes.js'

export const apiRoutes: FastifyPluginAsync = async app => {
  await app.register(sessionRoutes)
  await app.register(userRoutes)
  await app.register(userDeletionRoutes)
  await app.register(emailRoutes)
  await app.register(keyRoutes)
  await app.register(tokenRoutes)
  await app.register(applicationRoutes)
  await app.register(projectRoutes)
  await app.register(groupProjectRoutes)
  await app.register(repositoryRoutes)
  await app.register(pipelineRoutes)
  await app.register(buildRoutes)
  await app.register(hookRoutes)
  await app.register(deliveryRoutes)
  await app.register(auditRoutes)
  await app.register(jobMetricsRoutes)
  await app.register(templateRoutes)
  await app.register(settingsRoutes)
  await app.register(jobRoutes)
  await app.register(broadcastRoutes)
}
