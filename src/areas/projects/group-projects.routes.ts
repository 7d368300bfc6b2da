import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { GroupParams } from '../../lib/schema.js'
import { listProjects } from './projects.queries.js'
import { ProjectListQuery } from './projects.schema.js'
import { Project, viewFor } from './projects.view.js'

export const groupProjectRoutes: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/groups/:id/projects',
    {
      config: { can: 'group.read' },
      schema: {
        tags: ['Groups'],
        summary: 'List the projects of a group',
        params: GroupParams,
        querystring: ProjectListQuery,
        response: { 200: Type.Array(Project) }
      }
    },
    async ({ group, query, actor }, reply) =>
      reply.page(await listProjects({ group: group.id }, query, actor), viewFor(actor, query.simple))
  )
}
