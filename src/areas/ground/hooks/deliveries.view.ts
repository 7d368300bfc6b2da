// Not specified: the attributes of a delivery and of its attempts. Secrets in the request headers are masked.
import { described, IdOf, Integer, Moment, Nullable, OneOf, Text } from '../../../lib/schema.js'
import { parseStored } from '../../../lib/stored-json.js'
import { type Static, Type } from '../../../lib/type.js'
import { withoutSecretHeaders } from '../../../webhooks/headers.js'
import type { AttemptRow, DeliveryDetailsRow, DeliveryRow } from './deliveries.queries.js'
import { DELIVERY_STATES } from './deliveries.schema.js'
import { redeliveryOf } from './delivery-keys.js'

const Headers = (description: string) => Type.Record(Type.String(), Type.String(), { description })

const attempt = {
  started_at: Moment('when it started'),
  duration_ms: Integer('the duration in milliseconds'),
  status: Nullable(Integer('the status of the response; null when there was no response')),
  error: Nullable(Text('why it failed; null when the event was delivered'))
}

const LastAttempt = Type.Object(attempt, {
  title: 'HookDeliveryOutcome',
  description: 'The result of an attempt to deliver.'
})

const record = {
  id: IdOf('the delivery'),
  hook_id: IdOf('the hook'),
  event: Text('the name of the event'),
  state: OneOf(
    DELIVERY_STATES,
    'HookDeliveryState',
    'whether it is pending, was delivered, failed permanently or was canceled'
  ),
  attempts: Integer('the number of attempts so far'),
  redelivery_of: Nullable(Integer('the id of the delivery that this one repeats')),
  created_at: Moment('when the event happened'),
  finished_at: Nullable(Moment('when it was delivered or failed permanently; null before that')),
  last_attempt: Nullable(described(LastAttempt, 'the last attempt; null before the first one'))
}

export const Delivery = Type.Object(record, {
  title: 'HookDelivery',
  description: 'An event that is sent to a hook, with all its attempts.'
})
export type Delivery = Static<typeof Delivery>

const DeliveryAttempt = Type.Object(
  {
    attempt: Integer('the number of the attempt, from 1'),
    ...attempt,
    request_headers: Headers('the headers that were sent; secrets are masked'),
    response_headers: Headers('the headers of the response'),
    response_body: Text('the beginning of the response: at most hooks.response_limit bytes')
  },
  { title: 'HookDeliveryAttempt', description: 'One attempt to deliver an event.' }
)

export const DeliveryDetails = Type.Object(
  {
    ...record,
    payload: Type.Unknown({ description: 'the body that is sent' }),
    tries: Type.Array(DeliveryAttempt, { description: 'all attempts, oldest first' })
  },
  { title: 'HookDeliveryDetails', description: 'A delivery with its payload and its attempts.' }
)
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
  payload: payloadOf(delivery),
  tries: tries.map(viewAttempt)
})

/** Earlier versions cut the largest payloads, which made them invalid JSON. They are shown as text. */
function payloadOf({ payload }: DeliveryDetailsRow): unknown {
  try {
    return JSON.parse(payload)
  } catch {
    return payload
  }
}

const viewAttempt = (attempt: AttemptRow) => ({
  attempt: attempt.attempt,
  started_at: attempt.started_at,
  duration_ms: attempt.duration_ms,
  status: attempt.status,
  error: attempt.error,
  // Older rows still contain the signature, which did not count as a secret then.
  request_headers: withoutSecretHeaders(parseStored<Record<string, string>>(attempt.request_headers, {})),
  response_headers: parseStored<Record<string, string>>(attempt.response_headers, {}),
  response_body: attempt.response_body
})
