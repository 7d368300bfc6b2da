import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Flag } from '../../../lib/schema.js'
import { clearService, readService, saveService } from './services.js'
import { ServiceBody, ServiceParams } from './services.schema.js'
import { Service, viewService } from './services.view.js'

export const serviceRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'service.administer' as const }
  const tags = ['Services']
  const path = '/projects/:id/services/:slug'
  const done = { 200: Flag('always true') }

  app.get(
    path,
    {
      config,
      schema: { tags, summary: 'Get a service of a project', params: ServiceParams, response: { 200: Service } }
    },
    async ({ project, params }) => viewService(await readService(project, params.slug))
  )

  app.put(
    path,
    {
      config,
      schema: {
        tags,
        summary: 'Set up a service of a project',
        description:
          'The service becomes active. Each service has its own fields; fields of other services are ignored.',
        params: ServiceParams,
        body: ServiceBody,
        response: done
      }
    },
    async ({ project, params, body, origin }) => saveService(project, params.slug, body, origin)
  )

  app.delete(
    path,
    {
      config,
      schema: { tags, summary: 'Deactivate a service of a project', params: ServiceParams, response: done }
    },
    async ({ project, params, origin }) => clearService(project, params.slug, origin)
  )
}
