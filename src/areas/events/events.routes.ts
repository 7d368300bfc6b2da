import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { NumberedUserParams, Paging, ProjectParams } from '../../lib/schema.js'
import { requireNumberedUser } from '../users/users.queries.js'
import { listProjectEvents, listUserEvents } from './events.queries.js'
import { Event, viewEvent } from './events.view.js'

const EventQuery = Type.Object(Paging)

export const eventRoutes: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/projects/:id/events',
    {
      config: { can: 'project.read' },
      schema: {
        tags: ['Projects'],
        summary: 'List the events of a project',
        description:
          'Newest first. Pushes are shown to those who may read the repository, issues to those who may read them.',
        params: ProjectParams,
        querystring: EventQuery,
        response: { 200: Type.Array(Event) }
      }
    },
    async ({ project, query, actor }, reply) => reply.page(await listProjectEvents(project, query, actor), viewEvent)
  )

  app.get(
    '/users/:id/events',
    {
      config: { can: 'user.read' },
      schema: {
        tags: ['Users'],
        summary: 'List the events of a user',
        description: 'Newest first, in projects that you can see.',
        params: NumberedUserParams,
        querystring: EventQuery,
        response: { 200: Type.Array(Event) }
      }
    },
    async ({ params, query, actor }, reply) => {
      const user = await requireNumberedUser(params.id)
      return reply.page(await listUserEvents(user.id, query, actor), viewEvent)
    }
  )
}
