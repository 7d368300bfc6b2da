import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { config as configuration } from '../../../config.js'
import { Type } from '../../../lib/type.js'
import { createHook, deleteHook, listHooks, testHook } from './hooks.js'
import { HookBody, HookParams } from './hooks.schema.js'
import { DeletedSystemHook, SamplePayload, SystemHook, viewDeletedSystemHook, viewSystemHook } from './hooks.view.js'

export const hookRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'hook.administer' as const }
  const tags = ['System hooks']

  app.get(
    '/hooks',
    { config, schema: { tags, summary: 'List system hooks', response: { 200: Type.Array(SystemHook) } } },
    async () => (await listHooks()).map(viewSystemHook)
  )

  // Decided: an array that contains the hook, as the requirement shows; an object for clients that expect one.
  const asObject = configuration().api.system_hook_as_object
  app.post(
    '/hooks',
    {
      config,
      schema: {
        tags,
        summary: 'Create a system hook',
        description: asObject ? 'Returns the hook.' : 'Returns an array that contains the hook.',
        body: HookBody,
        response: { 201: asObject ? SystemHook : Type.Array(SystemHook) },
        errors: [422]
      }
    },
    async ({ body, origin }, reply) => {
      const hook = viewSystemHook(await createHook(body, origin))
      return reply.code(201).send(asObject ? hook : [hook])
    }
  )

  app.get(
    '/hooks/:id',
    {
      config,
      schema: {
        tags,
        operationId: 'testHook',
        summary: 'Send a sample event to a system hook',
        description: 'Returns the payload that is sent.',
        params: HookParams,
        response: { 200: SamplePayload }
      }
    },
    async ({ params }) => (await testHook(params.id)).sample
  )

  app.delete(
    '/hooks/:id',
    {
      config,
      schema: { tags, summary: 'Delete a system hook', params: HookParams, response: { 200: DeletedSystemHook } }
    },
    async ({ params, origin }) => viewDeletedSystemHook(await deleteHook(params.id, origin))
  )
}
