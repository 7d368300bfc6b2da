// Not specified: what is shown of a delivery and of its tries. Secrets of the request are blotted out.
import { type Static, Type } from 'typebox'
import { DateTime, Nullable } from '../../lib/schema.js'
import { withoutSecretHeaders } from '../../webhooks/headers.js'
import type { AttemptRow, DeliveryDetailsRow, DeliveryRow } from './deliveries.queries.js'
import { redeliveryOf } from './delivery-keys.js'

const Headers = Type.Record(Type.String(), Type.String())

const record = {
  id: Type.Integer(),
  hook_id: Type.Integer(),
  event: Type.String(),
  state: Type.String({ description: 'pending, delivered, dead or canceled' }),
  attempts: Type.Integer({ description: 'tries so far' }),
  redelivery_of: Nullable(Type.Integer({ description: 'the delivery that this one repeats' })),
  created_at: DateTime,
  finished_at: Nullable(DateTime),
  last_attempt: Nullable(
    Type.Object({
      started_at: DateTime,
      duration_ms: Type.Integer(),
      status: Nullable(Type.Integer()),
      error: Nullable(Type.String())
    })
  )
}

export const Delivery = Type.Object(record)
export type Delivery = Static<typeof Delivery>

export const DeliveryAttempt = Type.Object({
  attempt: Type.Integer(),
  started_at: DateTime,
  duration_ms: Type.Integer(),
  status: Nullable(Type.Integer({ description: 'of the answer; null where none began' })),
  error: Nullable(Type.String({ description: 'null where the event was delivered' })),
  request_headers: Headers,
  response_headers: Headers,
  response_body: Type.String({ description: 'its beginning: at most hooks.response_limit bytes' })
})

export const DeliveryDetails = Type.Object({
  ...record,
  payload: Type.Unknown({ description: 'the body that is sent' }),
  tries: Type.Array(DeliveryAttempt)
})
export type DeliveryDetails = Static<typeof DeliveryDetails>

export const viewDelivery = (delivery: DeliveryRow): Delivery => ({
  id: delivery.id,
  hook_id: delivery.hook_id,
  event: delivery.event,
  state: delivery.state,
  attempts: delivery.attempts,
  redelivery_of: redeliveryOf(delivery.event_key),
  created_at: delivery.created_at,
  finished_at: delivery.finished_at,
  last_attempt: delivery.last_started_at && {
    started_at: delivery.last_started_at,
    duration_ms: delivery.last_duration_ms ?? 0,
    status: delivery.last_status,
    error: delivery.last_error
  }
})

export const viewDeliveryDetails = (delivery: DeliveryDetailsRow, tries: readonly AttemptRow[]): DeliveryDetails => ({
  ...viewDelivery(delivery),
  payload: JSON.parse(delivery.payload) as unknown,
  tries: tries.map(viewAttempt)
})

const viewAttempt = (attempt: AttemptRow) => ({
  attempt: attempt.attempt,
  started_at: attempt.started_at,
  duration_ms: attempt.duration_ms,
  status: attempt.status,
  error: attempt.error,
  // What was written down before the signature was a secret still has it.
  request_headers: withoutSecretHeaders(JSON.parse(attempt.request_headers) as Record<string, string>),
  response_headers: JSON.parse(attempt.response_headers) as Record<string, string>,
  response_body: attempt.response_body
})
