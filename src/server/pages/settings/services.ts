// The services of a project: what it does with mail and with other programs.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { fieldsOf, KINDS, SLUGS, type Slug } from '../../../areas/projects/services/kinds.js'
import { clearService, readService, saveService } from '../../../areas/projects/services/services.js'
import { listServices } from '../../../areas/projects/services/services.queries.js'
import { ServiceBody } from '../../../areas/projects/services/services.schema.js'
import { viewService } from '../../../areas/projects/services/services.view.js'
import { Type } from '../../../lib/type.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { settingsPath, showSettings } from './menu.js'

const ServicePageParams = Type.Object({ slug: Type.Enum(SLUGS) })

/** What a service without a value does. */
const DEFAULTS: ServiceBody = { notify_only_broken_builds: true }

export const servicePages: FastifyPluginAsyncTypebox = async app => {
  const all = '/:namespace/:project/settings/services'
  const one = `${all}/:slug`
  const config = { can: 'service.administer' as const }
  const params = ServicePageParams

  app.get(all, { config }, async (request, reply) => {
    const services = await listServices(request.project.id)
    const shown = services.map(({ slug, row }) => ({ slug, title: KINDS[slug].title, active: row?.active === 1 }))
    return showSettings(request, reply, 'services', { title: 'Services', services: shown, action: pathOf(request) })
  })

  app.get(one, { config, schema: { params } }, (request, reply) => showService(request, reply, request.params.slug))

  app.post(one, { config, schema: { params, body: ServiceBody } }, async (request, reply) => {
    const { project, origin, body } = request
    const { slug } = request.params
    try {
      await saveService(project, slug, body, origin)
      return reply.redirect(pathOf(request), 303)
    } catch (error) {
      return showService(request, reply.code(400), slug, body, refusalsOf(error))
    }
  })

  app.post(`${one}/disable`, { config, schema: { params } }, async (request, reply) => {
    await clearService(request.project, request.params.slug, request.origin)
    return reply.redirect(pathOf(request), 303)
  })
}

const pathOf = (request: FastifyRequest) => `${settingsPath(request)}/services`

async function showService(
  request: FastifyRequest,
  reply: FastifyReply,
  slug: Slug,
  entered?: ServiceBody,
  refusals?: Refusals
) {
  const { active, properties } = viewService(await readService(request.project, slug))
  return showSettings(request, reply, 'service', {
    title: KINDS[slug].title,
    slug,
    active,
    fields: fieldsOf(slug).map(([name, field]) => ({ name, ...field })),
    action: `${pathOf(request)}/${slug}`,
    values: { ...DEFAULTS, ...properties, ...entered },
    refusals
  })
}
