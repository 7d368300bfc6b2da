import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { callTrigger, createTrigger, deleteTrigger } from './triggers.js'
import { listTriggers, requireTrigger } from './triggers.queries.js'
import { RefParams, TriggerCall, TriggerListQuery, TriggerParams, TriggerRefCall } from './triggers.schema.js'
import { Trigger, TriggerRequest, viewTrigger } from './triggers.view.js'

const TAGS = ['Triggers']

export const triggerRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'trigger.administer' as const }
  const one = { tags: TAGS, params: TriggerParams, response: { 200: Trigger } }

  app.get(
    '/projects/:id/triggers',
    {
      config,
      schema: {
        tags: TAGS,
        summary: 'List the triggers of a project',
        params: ProjectParams,
        querystring: TriggerListQuery,
        response: { 200: Type.Array(Trigger) }
      }
    },
    async ({ project, query }, reply) => reply.page(await listTriggers(project.id, query), row => viewTrigger(row))
  )

  app.get('/projects/:id/triggers/:token', { config, schema: { ...one, summary: 'Get a trigger' } }, async req =>
    viewTrigger(await requireTrigger(req.project.id, req.params.token), req.params.token)
  )

  app.post(
    '/projects/:id/triggers',
    { config, schema: { tags: TAGS, summary: 'Create a trigger', params: ProjectParams, response: { 201: Trigger } } },
    async ({ project, origin }, reply) => reply.code(201).send(viewTrigger(await createTrigger(project, origin)))
  )

  app.delete(
    '/projects/:id/triggers/:token',
    { config, schema: { ...one, summary: 'Remove a trigger' } },
    async ({ project, params, origin }) => viewTrigger(await deleteTrigger(project, params.token, origin), params.token)
  )
}

/** The caller of a trigger needs no account. The second path works as the target of a hook, whose body has no ref. */
export const triggerCallRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { public: true as const }
  const call = {
    tags: TAGS,
    summary: 'Start a pipeline with a trigger',
    response: { 201: TriggerRequest },
    errors: [401, 403, 429] as const
  }

  app.post(
    '/projects/:id/trigger/builds',
    { config, schema: { ...call, operationId: 'callProjectTrigger', params: ProjectParams, body: TriggerRefCall } },
    async ({ params, body }, reply) => reply.code(201).send(await callTrigger(params.id, body.ref, body))
  )

  app.post(
    '/projects/:id/ref/:ref/trigger/builds',
    { config, schema: { ...call, operationId: 'callProjectRefTrigger', params: RefParams, body: TriggerCall } },
    async ({ params, body }, reply) => reply.code(201).send(await callTrigger(params.id, params.ref, body))
  )
}
