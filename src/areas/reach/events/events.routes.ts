import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { may } from '../../../access/authorize.js'
import { NumberedUserParams, Paging, ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { requireNumberedUser } from '../../people/users/users.queries.js'
import { readNotes } from '../../planning/discussion/notes.queries.js'
import { type EventRow, listProjectEvents, listUserEvents } from './events.queries.js'
import { Event, viewEvent } from './events.view.js'

/** Reads the notes of a page of events, by their ids. */
const notesOf = (events: readonly EventRow[]) =>
  readNotes(events.flatMap(({ target_type: type, target_id: id }) => (type === 'Note' && id !== null ? [id] : [])))

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
          'Newest first. You see pushes and merge requests if you may read the repository, and issues if you may read them.',
        params: ProjectParams,
        querystring: EventQuery,
        response: { 200: Type.Array(Event) }
      }
    },
    async ({ project, query, actor }, reply) => {
      const code = may(actor, 'repository.read', project)
      const page = await listProjectEvents(project, query, { code, actor })
      const notes = await notesOf(page.items)
      return reply.page(page, event => viewEvent(event, notes.get(event.target_id ?? 0)))
    }
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
      const page = await listUserEvents(user.id, query, actor)
      const notes = await notesOf(page.items)
      return reply.page(page, event => viewEvent(event, notes.get(event.target_id ?? 0)))
    }
  )
}
