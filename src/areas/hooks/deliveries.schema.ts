import { type Static, Type } from 'typebox'
import { IdOf, Paging } from '../../lib/schema.js'
import { systemHookEvents } from '../../webhooks/events.js'

export const DELIVERY_STATES = ['pending', 'delivered', 'dead', 'canceled'] as const

export const DeliveryParams = Type.Object({ id: IdOf('the hook'), delivery_id: IdOf('the delivery') })

export const DeliveryListQuery = Type.Object({
  ...Paging,
  state: Type.Optional(
    Type.Enum([...DELIVERY_STATES], { title: 'HookDeliveryState', description: 'only deliveries of that state' })
  ),
  event: Type.Optional(
    Type.Enum([...systemHookEvents], { title: 'SystemHookEvent', description: 'only deliveries of that event' })
  )
})
export type DeliveryListQuery = Static<typeof DeliveryListQuery>
