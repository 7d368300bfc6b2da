// What happened in the projects of the visitor or of a group, and what a user did: pages and feeds.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../../../access/actor.js'
import { listProjects, type ProjectScope } from '../../../areas/projects/projects/project-list.queries.js'
import { type EventLine, readEventLines } from '../../../areas/reach/events/event-lines.js'
import { listEventsOf } from '../../../areas/reach/events/events.queries.js'
import { GroupParams } from '../../../lib/schema.js'
import { path } from '../components.js'
import { show } from '../page-routes.js'
import { sendFeed } from '../projects/feed.js'

/** The projects in which something happened last, and the events that are shown. */
const MOST_PROJECTS = 16
const MOST_EVENTS = 30

export const activityOfManyPages: FastifyPluginAsyncTypebox = async app => {
  const own = { config: { can: 'project.list' as const } }
  const group = { config: { can: 'group.read' as const }, schema: { params: GroupParams } }

  app.get('/dashboard/activity', own, (request, reply) =>
    showActivity(request, reply, 'member', { title: 'Activity in your projects', page: '/dashboard/activity' })
  )

  app.get('/dashboard/activity.atom', own, (request, reply) =>
    feedActivity(request, reply, 'member', { title: 'Activity in your projects', page: '/dashboard/activity' })
  )

  app.get('/groups/:id/activity', group, (request, reply) =>
    showActivity(request, reply, { group: request.group.id }, placeOf(request))
  )

  app.get('/groups/:id/activity.atom', group, (request, reply) =>
    feedActivity(request, reply, { group: request.group.id }, placeOf(request))
  )
}

const placeOf = ({ group }: FastifyRequest) => ({
  title: `Activity of ${group.name}`,
  page: path('groups', group.path, 'activity')
})

interface Place {
  readonly title: string
  readonly page: string
}

async function showActivity(request: FastifyRequest, reply: FastifyReply, scope: ProjectScope, { title, page }: Place) {
  const events = await readActivity(scope, request.actor, MOST_EVENTS)
  return show(request, reply, 'people/activity', { title, events, feed: `${page}.atom` })
}

async function feedActivity(request: FastifyRequest, reply: FastifyReply, scope: ProjectScope, place: Place) {
  return sendFeed(reply, { ...place, events: await readActivity(scope, request.actor, MOST_EVENTS) })
}

async function readActivity(scope: ProjectScope, actor: Actor, most: number): Promise<EventLine[]> {
  const query = { page: 1, per_page: MOST_PROJECTS, order_by: 'last_activity_at' } as const
  const { items } = await listProjects(scope, query, actor)
  return activityIn(
    items.map(({ id }) => id),
    actor,
    most
  )
}

/** Returns the last events of some projects that the visitor may see, as lines. */
export const activityIn = async (projectIds: readonly number[], actor: Actor, most: number): Promise<EventLine[]> =>
  readEventLines(await listEventsOf(projectIds, most, actor))
