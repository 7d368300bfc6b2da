// Not specified: these routes show the deliveries of a system hook with their results, and redeliver them.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '../../../lib/type.js'
import { findDelivery, listAttempts, listDeliveries } from './deliveries.queries.js'
import { DeliveryListQuery, DeliveryParams } from './deliveries.schema.js'
import { Delivery, DeliveryDetails, viewDelivery, viewDeliveryDetails } from './deliveries.view.js'
import { findHook } from './hooks.js'
import { HookParams } from './hooks.schema.js'
import { redeliver } from './redeliveries.js'

export const deliveryRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'hook.administer' as const }
  const tags = ['System hooks']

  app.get(
    '/hooks/:id/deliveries',
    {
      config,
      schema: {
        tags,
        summary: 'List the deliveries of a system hook',
        description: 'Newest first.',
        params: HookParams,
        querystring: DeliveryListQuery,
        response: { 200: Type.Array(Delivery) }
      }
    },
    async ({ params, query }, reply) => {
      const hook = await findHook(params.id)
      return reply.page(await listDeliveries(hook.id, query), viewDelivery)
    }
  )

  app.get(
    '/hooks/:id/deliveries/:delivery_id',
    {
      config,
      schema: {
        tags,
        summary: 'Get a delivery with its attempts',
        params: DeliveryParams,
        response: { 200: DeliveryDetails }
      }
    },
    async ({ params }) => {
      const hook = await findHook(params.id)
      const delivery = await findDelivery(params.delivery_id, hook.id)
      return viewDeliveryDetails(delivery, await listAttempts(delivery.id))
    }
  )

  app.post(
    '/hooks/:id/deliveries/:delivery_id/redeliver',
    {
      config,
      schema: {
        tags,
        summary: 'Redeliver an event to a system hook',
        description: 'Returns the new delivery.',
        params: DeliveryParams,
        response: { 201: Delivery }
      }
    },
    async ({ params, origin }, reply) => {
      const hook = await findHook(params.id)
      const delivery = await redeliver({ deliveryId: params.delivery_id, hookId: hook.id }, origin)
      return reply.code(201).send(viewDelivery(delivery))
    }
  )
}
