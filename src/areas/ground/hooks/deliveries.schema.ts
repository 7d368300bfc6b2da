import { IdOf, Paging } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { SYSTEM_HOOK_EVENTS } from '../../../webhooks/events.js'

export const DELIVERY_STATES = ['pending', 'delivered', 'dead', 'canceled'] as const

export const DeliveryParams = Type.Object({ id: IdOf('the hook'), delivery_id: IdOf('the delivery') })

export const DeliveryListQuery = Type.Object({
  ...Paging,
  state: Type.Optional(
    Type.Enum([...DELIVERY_STATES], { title: 'HookDeliveryState', description: 'only deliveries in this state' })
  ),
  event: Type.Optional(
    Type.Enum([...SYSTEM_HOOK_EVENTS], { title: 'SystemHookEvent', description: 'only deliveries of this event' })
  )
})
export type DeliveryListQuery = Static<typeof DeliveryListQuery>
