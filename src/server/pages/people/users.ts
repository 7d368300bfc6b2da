// The page of a user, at the URL that records show. A group has its page at /groups/PATH, and its short path leads there.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Actor } from '../../../access/actor.js'
import { canSeeGroup } from '../../../access/authorize.js'
import { findGroup } from '../../../areas/people/groups/groups.queries.js'
import { findNamespace } from '../../../areas/people/groups/namespaces.queries.js'
import { findUser } from '../../../areas/people/users/users.queries.js'
import { viewUser } from '../../../areas/people/users/users.record.js'
import { listProjects } from '../../../areas/projects/projects/project-list.queries.js'
import { readEventLines } from '../../../areas/reach/events/event-lines.js'
import { listUserEvents } from '../../../areas/reach/events/events.queries.js'
import { NotFound } from '../../../errors.js'
import { Paging } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { path } from '../components.js'
import { show } from '../page-routes.js'
import { sendFeed } from '../projects/feed.js'

/** The events on the page of a user, and in the feed. */
const FEW = { page: 1, per_page: 20 }

const UserParams = Type.Object({ namespace: Type.String({ maxLength: 255 }) })

export const userPages: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/:namespace',
    { config: { can: 'user.read' }, schema: { params: UserParams, querystring: Type.Object(Paging) } },
    async (request, reply) => {
      const { actor, params, query } = request
      // No name ends like this.
      const [, name = params.namespace, feed] = /^(.+)(\.atom)$/.exec(params.namespace) ?? []
      const { id, place, owner } = await findOwner(name, actor)
      if (place.toLowerCase() !== path(name).toLowerCase()) return reply.redirect(place + (feed ?? ''))
      const user = await findUser(owner)
      if (!user) throw new NotFound('User')
      const { items } = await listUserEvents(user.id, FEW, actor)
      const events = await readEventLines(items)
      if (feed) return sendFeed(reply, { title: `Activity of ${user.name}`, page: place, events })
      const projects = await listProjects({ group: id }, query, actor)
      const page = {
        title: user.name,
        user: viewUser(user),
        projects,
        events,
        feed: `${place}.atom`,
        mayCreate: user.id === actor.user?.id
      }
      return show(request, reply, 'people/user', page)
    }
  )
}

/** Finds the user or group that has a path, or had it. Throws NotFound. */
async function findOwner(name: string, actor: Actor) {
  const found = await findNamespace(name)
  if (!found) throw new NotFound('User')
  if (found.owner_id !== null) return { id: found.id, place: path(found.path), owner: found.owner_id }
  const group = await findGroup(found.id, actor)
  if (!group || !canSeeGroup(group, actor)) throw new NotFound('Group')
  return { id: found.id, place: path('groups', found.path), owner: 0 }
}
