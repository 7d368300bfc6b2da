// The attributes of a group, its path, and its deletion.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { updateGroup } from '../../../areas/people/groups/groups.js'
import { findGroup, type GroupRecord } from '../../../areas/people/groups/groups.queries.js'
import { GroupChange } from '../../../areas/projects/projects/group-projects.schema.js'
import { deleteGroup } from '../../../areas/upkeep/removal/group-deletion.js'
import { Stale } from '../../../errors.js'
import { GroupParams } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { requireVersion, versionOf } from '../../../text/versions.js'
import { path } from '../components.js'
import { show } from '../page-routes.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { settingsPath } from './menu.js'
import { Confirmation } from './project.js'

const { path: groupPath, ...change } = GroupChange.properties
const General = Type.Object({ ...change, version: Type.Optional(Type.String()) })
const NewPath = Type.Object({ path: groupPath })
const NAMES = Object.keys(change) as (keyof typeof change)[]

export const groupSettingPages: FastifyPluginAsyncTypebox = async app => {
  const all = '/groups/:id/settings'
  const config = { can: 'group.administer' as const }
  const params = GroupParams

  app.get(all, { config, schema: { params } }, (request, reply) => showForm(request, reply))

  app.post(all, { config, schema: { params, body: General } }, async (request, reply) => {
    const { group, body, origin } = request
    const { version, ...change } = body
    try {
      requireVersion(version, textOf(group))
      await updateGroup(group.id, change, origin)
      return reply.redirect(`${settingsPath(request)}?saved=1`, 303)
    } catch (error) {
      if (error instanceof Stale) return showForm(request, reply.code(409), { entered: change, isStale: true })
      return showForm(request, reply.code(400), { entered: body, refusals: refusalsOf(error) })
    }
  })

  app.post(`${all}/path`, { config, schema: { params, body: NewPath } }, async (request, reply) => {
    const { group, body, origin, actor } = request
    try {
      await updateGroup(group.id, body, origin)
    } catch (error) {
      const { path, base } = refusalsOf(error)
      return showForm(request, reply.code(400), { refusals: { path: path ?? base ?? '' }, newPath: body.path })
    }
    const now = await findGroup(group.id, actor)
    return reply.redirect(path('groups', now?.path ?? group.path, 'settings'), 303)
  })

  app.post(`${all}/delete`, { config, schema: { params, body: Confirmation } }, async (request, reply) => {
    const { group, body, origin } = request
    if (body.confirmation !== group.path) {
      return showForm(request, reply.code(400), { refusals: { confirmation: 'is not the path of the group' } })
    }
    await deleteGroup(group.id, origin)
    return reply.redirect('/dashboard/groups', 303)
  })
}

const textOf = (group: GroupRecord): string => JSON.stringify(NAMES.map(name => group[name]))

interface Shown {
  readonly entered?: Static<typeof General>
  readonly refusals?: Refusals
  readonly isStale?: boolean
  readonly newPath?: string | undefined
}

const showForm = (request: FastifyRequest, reply: FastifyReply, shown: Shown = {}): Promise<FastifyReply> =>
  show(request, reply, 'settings/group', {
    title: 'Settings',
    group: request.group,
    base: settingsPath(request),
    values: { ...request.group, ...shown.entered },
    version: shown.entered?.version ?? versionOf(textOf(request.group)),
    saved: (request.query as { saved?: string }).saved === '1',
    ...shown
  })
