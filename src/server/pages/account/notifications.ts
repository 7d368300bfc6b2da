// Which events users get mail about: everywhere, and in single groups and projects.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Actor, askerOf } from '../../../access/actor.js'
import { canSee, canSeeGroup } from '../../../access/authorize.js'
import { findGroup } from '../../../areas/people/groups/groups.queries.js'
import { listAddresses } from '../../../areas/people/users/emails.queries.js'
import { findProject } from '../../../areas/projects/projects/projects.queries.js'
import { EVENTS, type EventName, LEVELS } from '../../../areas/reach/notifications/levels.js'
import { saveGlobalSetting, saveSetting } from '../../../areas/reach/notifications/settings.js'
import {
  findGlobalSetting,
  findSetting,
  listSettings,
  type Source
} from '../../../areas/reach/notifications/settings.queries.js'
import { Paging } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { path } from '../components.js'
import { show } from '../page-routes.js'
import { projectPath } from '../place.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { showOwn } from './menu.js'

const PATH = '/profile/notifications'
const OF_PROJECT = '/:namespace/:project/notification_setting'
const OF_GROUP = '/groups/:id/notification_setting'

const Level = Type.Enum(LEVELS)
const Events = Type.Optional(Type.Array(Type.Enum(EVENTS), { maxItems: EVENTS.length }))
const PlaceForm = Type.Object({ level: Level, events: Events })
const GlobalForm = Type.Object({
  level: Level,
  events: Events,
  notification_email: Type.Optional(Type.String({ maxLength: 255 }))
})
const Query = Type.Object({ ...Paging, of: Type.Optional(Type.String({ maxLength: 255 })) })

export const notificationPages: FastifyPluginAsyncTypebox = async app => {
  const own = { can: 'notification_setting.own' as const }

  app.get(PATH, { config: own, schema: { querystring: Query } }, async (request, reply) => {
    const { of } = request.query
    if (of === undefined) return showGlobal(request, reply)
    const place = await findPlace(of, request.actor)
    if (place !== undefined) return reply.redirect(`${place}/notification_setting`)
    return showGlobal(request, reply.code(404), { of: 'There is no project or group with this path.' })
  })

  app.post(PATH, { config: own, schema: { body: GlobalForm } }, async (request, reply) => {
    const { level, events, notification_email: email } = request.body
    try {
      const values = { level, ...eventsOf(level, events), ...(email !== undefined && { notification_email: email }) }
      await saveGlobalSetting(askerOf(request.actor).id, values)
    } catch (error) {
      return showGlobal(request, reply.code(400), refusalsOf(error))
    }
    return reply.redirect(`${PATH}?saved=1`, 303)
  })
}

/** The levels of one project or group. */
export const placeNotificationPages: FastifyPluginAsyncTypebox = async app => {
  const ofProject = { can: 'notification_setting.project' as const }
  const ofGroup = { can: 'notification_setting.group' as const }

  app.get(OF_PROJECT, { config: ofProject }, (request, reply) => showPlace(request, reply, projectSource(request)))
  app.post(OF_PROJECT, { config: ofProject, schema: { body: PlaceForm } }, (request, reply) =>
    savePlace(request, reply, projectSource(request), request.body)
  )

  app.get(OF_GROUP, { config: ofGroup }, (request, reply) => showPlace(request, reply, groupSource(request)))
  app.post(OF_GROUP, { config: ofGroup, schema: { body: PlaceForm } }, (request, reply) =>
    savePlace(request, reply, groupSource(request), request.body)
  )
}

const projectSource = ({ project }: FastifyRequest): Source => ({ type: 'Project', id: project.id })
const groupSource = ({ group }: FastifyRequest): Source => ({ type: 'Group', id: group.id })

/** Returns the page of the project or group that a user names, if the user may see it. */
async function findPlace(named: string, actor: Actor): Promise<string | undefined> {
  const name = named.trim().replace(/^\/+|\/+$/g, '')
  if (name.includes('/')) {
    const project = await findProject(name, actor)
    return project && canSee(project, actor) ? projectPath(project) : undefined
  }
  const group = await findGroup(name, actor)
  return group && canSeeGroup(group, actor) ? path('groups', group.path) : undefined
}

/** The page of the level of a place. */
const pathOf = (name: string): string =>
  `${name.includes('/') ? path(...name.split('/')) : path('groups', name)}/notification_setting`

/** A form sends only the boxes that are checked. With the other levels there are none. */
const eventsOf = (level: string, events: readonly EventName[] = []) =>
  level === 'custom' ? Object.fromEntries(EVENTS.map(name => [name, events.includes(name)])) : {}

async function showGlobal(request: FastifyRequest, reply: FastifyReply, refusals: Refusals = {}) {
  const { id } = askerOf(request.actor)
  const [setting, addresses, places] = await Promise.all([
    findGlobalSetting(id),
    listAddresses(id),
    listSettings(request.query as object, request.actor)
  ])
  return showOwn(request, reply, 'notifications', {
    title: 'Notifications',
    setting,
    addresses: addresses.filter(({ confirmed_at: at }) => at !== null),
    places: { ...places, items: places.items.map(place => ({ ...place, href: pathOf(place.path) })) },
    events: EVENTS,
    levels: LEVELS.filter(level => level !== 'global'),
    refusals,
    of: (request.query as { of?: string }).of,
    saved: isSaved(request)
  })
}

const isSaved = ({ method, query }: FastifyRequest) => method === 'GET' && (query as { saved?: string }).saved === '1'

async function showPlace(request: FastifyRequest, reply: FastifyReply, source: Source) {
  const setting = await findSetting(source, askerOf(request.actor).id)
  return show(request, reply, 'account/notification-setting', {
    title: 'Notifications',
    action: placeOf(request),
    setting,
    events: EVENTS,
    levels: LEVELS,
    saved: isSaved(request)
  })
}

async function savePlace(
  request: FastifyRequest,
  reply: FastifyReply,
  source: Source,
  { level, events }: { readonly level: string; readonly events?: readonly EventName[] }
) {
  await saveSetting(source, askerOf(request.actor).id, { level, ...eventsOf(level, events) })
  return reply.redirect(`${placeOf(request)}?saved=1`, 303)
}

const placeOf = ({ project, group }: FastifyRequest): string =>
  `${project ? projectPath(project) : path('groups', group.path)}/notification_setting`
