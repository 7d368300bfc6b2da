import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createTrigger, deleteTrigger } from '../../../areas/ci/pipelines/triggers.js'
import { listTriggers } from '../../../areas/ci/pipelines/triggers.queries.js'
import { TriggerListQuery } from '../../../areas/ci/pipelines/triggers.schema.js'
import { viewTrigger } from '../../../areas/ci/pipelines/triggers.view.js'
import { publicUrl } from '../../../config.js'
import { Type } from '../../../lib/type.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { settingsPath, showSettings } from './menu.js'

const Token = Type.Object({ token: Type.String({ maxLength: 255 }) })

export const triggerPages: FastifyPluginAsyncTypebox = async app => {
  const all = '/:namespace/:project/settings/triggers'
  const config = { can: 'trigger.administer' as const }

  app.get(all, { config, schema: { querystring: TriggerListQuery } }, (request, reply) =>
    showTriggers(request, reply, request.query)
  )

  app.post(all, { config }, async (request, reply) => {
    try {
      await createTrigger(request.project, request.origin)
      return reply.redirect(pathOf(request), 303)
    } catch (error) {
      return showTriggers(request, reply.code(400), {}, refusalsOf(error))
    }
  })

  app.post(`${all}/delete`, { config, schema: { body: Token } }, async (request, reply) => {
    await deleteTrigger(request.project, request.body.token, request.origin)
    return reply.redirect(pathOf(request), 303)
  })
}

const pathOf = (request: FastifyRequest) => `${settingsPath(request)}/triggers`

async function showTriggers(
  request: FastifyRequest,
  reply: FastifyReply,
  query: { readonly page?: number },
  refusals?: Refusals
) {
  const { project } = request
  const page = await listTriggers(project.id, query)
  return showSettings(request, reply, 'triggers', {
    title: 'Triggers',
    page,
    triggers: page.items.map(row => viewTrigger(row)),
    action: pathOf(request),
    call: `${publicUrl()}/api/v3/projects/${project.id}/trigger/builds`,
    ref: project.default_branch ?? 'master',
    refusals
  })
}
