import { type Static, Type } from 'typebox'
import { Id, Paging } from '../../lib/schema.js'
import { systemHookEvents } from '../../webhooks/events.js'

export const DELIVERY_STATES = ['pending', 'delivered', 'dead', 'canceled'] as const

export const DeliveryParams = Type.Object({ id: Id, delivery_id: Id })

export const DeliveryListQuery = Type.Object({
  ...Paging,
  state: Type.Optional(Type.Enum([...DELIVERY_STATES])),
  event: Type.Optional(Type.Enum([...systemHookEvents]))
})
export type DeliveryListQuery = Static<typeof DeliveryListQuery>
