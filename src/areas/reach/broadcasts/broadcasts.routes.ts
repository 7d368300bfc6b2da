import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '../../../lib/type.js'
import { createBroadcast, deleteBroadcast, updateBroadcast } from './broadcasts.js'
import { listBroadcasts, requireBroadcast } from './broadcasts.queries.js'
import { BroadcastBody, BroadcastChange, BroadcastListQuery, BroadcastParams } from './broadcasts.schema.js'
import { Broadcast, viewBroadcast } from './broadcasts.view.js'

export const broadcastRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'broadcast.administer' as const }
  const tags = ['Broadcast messages']
  const one = { tags, params: BroadcastParams, response: { 200: Broadcast } }

  app.get(
    '/broadcast_messages',
    {
      config,
      schema: {
        tags,
        summary: 'List broadcast messages',
        querystring: BroadcastListQuery,
        response: { 200: Type.Array(Broadcast) }
      }
    },
    async ({ query }, reply) => reply.page(await listBroadcasts(query), message => viewBroadcast(message))
  )

  app.get(
    '/broadcast_messages/:id',
    { config, schema: { ...one, summary: 'Get a broadcast message' } },
    async ({ params }) => viewBroadcast(await requireBroadcast(params.id))
  )

  app.post(
    '/broadcast_messages',
    {
      config,
      schema: { tags, summary: 'Create a broadcast message', body: BroadcastBody, response: { 201: Broadcast } }
    },
    async ({ body, origin }, reply) => reply.code(201).send(viewBroadcast(await createBroadcast(body, origin)))
  )

  app.put(
    '/broadcast_messages/:id',
    { config, schema: { ...one, summary: 'Change a broadcast message', body: BroadcastChange } },
    async ({ params, body, origin }) => viewBroadcast(await updateBroadcast(params.id, body, origin))
  )

  app.delete(
    '/broadcast_messages/:id',
    { config, schema: { ...one, summary: 'Delete a broadcast message' } },
    async ({ params, origin }) => viewBroadcast(await deleteBroadcast(params.id, origin))
  )
}
