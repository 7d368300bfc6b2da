import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { readDeployment, readDeployments } from './deployments.js'
import { listDeployments } from './deployments.queries.js'
import { Deployment, viewDeployment } from './deployments.view.js'
import { DeploymentListQuery, DeploymentParams } from './environments.schema.js'

export const deploymentRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'environment.read' as const }
  const tags = ['Deployments']

  app.get(
    '/projects/:id/deployments',
    {
      config,
      schema: {
        tags,
        summary: 'List the deployments of a project',
        description: 'Oldest first.',
        params: ProjectParams,
        querystring: DeploymentListQuery,
        response: { 200: Type.Array(Deployment) }
      }
    },
    async ({ project, query }, reply) => {
      const page = await listDeployments(project.id, query)
      return reply.page({ ...page, items: await readDeployments(project, page.items) }, viewDeployment)
    }
  )

  app.get(
    '/projects/:id/deployments/:deployment_id',
    { config, schema: { tags, summary: 'Get a deployment', params: DeploymentParams, response: { 200: Deployment } } },
    async ({ project, params }) => viewDeployment(await readDeployment(project, params.deployment_id))
  )
}
