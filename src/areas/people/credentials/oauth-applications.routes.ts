// Decided: administrators register applications of the instance here.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '../../../lib/type.js'
import { createApplication, deleteApplication } from './oauth-applications.js'
import { pageOfApplications } from './oauth-applications.queries.js'
import { ApplicationBody, ApplicationListQuery, ApplicationParams } from './oauth-applications.schema.js'
import { Application, NewApplication, viewApplication, viewNewApplication } from './oauth-applications.view.js'

const TAGS = ['OAuth applications']

export const applicationRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'application.administer' as const }

  app.get(
    '/applications',
    {
      config,
      schema: {
        tags: TAGS,
        summary: 'List OAuth applications',
        description: 'Applications of the instance and of users, newest first.',
        querystring: ApplicationListQuery,
        response: { 200: Type.Array(Application) }
      }
    },
    async ({ query }, reply) => reply.page(await pageOfApplications(query), viewApplication)
  )

  app.post(
    '/applications',
    {
      config,
      schema: {
        tags: TAGS,
        summary: 'Register an OAuth application of the instance',
        body: ApplicationBody,
        response: { 201: NewApplication }
      }
    },
    async ({ body, origin }, reply) => reply.code(201).send(viewNewApplication(await createApplication(body, origin)))
  )

  app.delete(
    '/applications/:id',
    {
      config,
      schema: {
        tags: TAGS,
        summary: 'Delete an OAuth application; its tokens stop working',
        params: ApplicationParams,
        response: { 200: Application }
      }
    },
    async ({ params, origin }) => viewApplication(await deleteApplication(params.id, origin))
  )
}
