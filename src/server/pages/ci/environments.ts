import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { may } from '../../../access/authorize.js'
import { readDeployments } from '../../../areas/ci/environments/deployments.js'
import { listDeploymentsTo } from '../../../areas/ci/environments/deployments.queries.js'
import { viewDeployment } from '../../../areas/ci/environments/deployments.view.js'
import { createEnvironment, deleteEnvironment } from '../../../areas/ci/environments/environments.js'
import { showEnvironment, showEnvironments } from '../../../areas/ci/environments/environments.queries.js'
import { EnvironmentBody, EnvironmentListQuery } from '../../../areas/ci/environments/environments.schema.js'
import { stopEnvironment } from '../../../areas/ci/environments/stop.js'
import { path } from '../components.js'
import { projectPath } from '../place.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { EnvironmentParams } from './params.js'
import { showCi } from './pipelines.js'

const params = EnvironmentParams

export const environmentPages: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'environment.read' as const }

  app.get(
    '/:namespace/:project/environments',
    { config, schema: { querystring: EnvironmentListQuery } },
    async (request, reply) => showList(request, reply, request.query)
  )

  app.post(
    '/:namespace/:project/environments',
    { config: { can: 'environment.create' }, schema: { body: EnvironmentBody } },
    async (request, reply) => {
      const made = await createEnvironment(request.project, request.body, request.origin).catch(refusalsOf)
      if (!('id' in made)) return showList(request, reply.code(400), {}, made)
      return reply.redirect(listPath(request) + path(made.id), 303)
    }
  )

  app.get(
    '/:namespace/:project/environments/:environment_id',
    { config, schema: { params, querystring: EnvironmentListQuery } },
    async (request, reply) => {
      const { project, params, query } = request
      const environment = await showEnvironment(project.id, params.environment_id)
      const page = await listDeploymentsTo(project.id, environment.id, query)
      const items = (await readDeployments(project, page.items)).map(viewDeployment)
      const more = { environment, deployments: { ...page, items } }
      return showEnvironmentPage(request, reply, 'ci/environment', { title: environment.name, ...more })
    }
  )

  app.post(
    '/:namespace/:project/environments/:environment_id/stop',
    { config: { can: 'environment.stop' }, schema: { params } },
    async (request, reply) => {
      await stopEnvironment(request.project, request.params.environment_id, request.origin)
      return reply.redirect(listPath(request) + path(request.params.environment_id), 303)
    }
  )

  app.post(
    '/:namespace/:project/environments/:environment_id/delete',
    { config: { can: 'environment.administer' }, schema: { params } },
    async (request, reply) => {
      await deleteEnvironment(request.project, request.params.environment_id, request.origin)
      return reply.redirect(listPath(request), 303)
    }
  )
}

const listPath = ({ project }: FastifyRequest) => `${projectPath(project)}/environments`

/** Shows the list, and with `refused` why one of the form was not created. */
async function showList(
  request: FastifyRequest,
  reply: FastifyReply,
  query: { readonly page?: number; readonly per_page?: number },
  refused?: Refusals
): Promise<FastifyReply> {
  const environments = await showEnvironments(request.project.id, query)
  return showEnvironmentPage(request, reply, 'ci/environments', {
    title: 'Environments',
    ...{ environments, errors: refused ?? {}, entered: refused ? request.body : {} }
  })
}

const showEnvironmentPage: typeof showCi = (request, reply, name, page) =>
  showCi(request, reply, name, {
    mayCreate: may(request.actor, 'environment.create', request.project),
    mayStop: may(request.actor, 'environment.stop', request.project),
    mayDelete: may(request.actor, 'environment.administer', request.project),
    ...page
  })
