// Not specified: the attributes of a delivery and of its attempts. Secrets in the request headers are masked.
import { described, IdOf, Integer, Moment, Nullable, OneOf, Text } from '../../lib/schema.js'
import { parseStored } from '../../lib/stored.js'
import { type Static, Type } from '../../lib/type.js'
import { withoutSecretHeaders } from '../../webhooks/headers.js'
import type { AttemptRow, DeliveryDetailsRow, DeliveryRow } from './deliveries.queries.js'
import { DELIVERY_STATES } from './deliveries.schema.js'
import { redeliveryOf } from './delivery-keys.js'

const Headers = (description: string) => Type.Record(Type.String(), Type.String(), { description })

const attempt = {
  started_at: Moment('when it began'),
  duration_ms: Integer('milliseconds that it took'),
  status: Nullable(Integer('the status of the answer; null where none began')),
  error: Nullable(Text('why it failed; null where the event was delivered'))
}

const LastAttempt = Type.Object(attempt, { title: 'HookDeliveryOutcome', description: 'How a try to deliver went.' })

const record = {
  id: IdOf('the delivery'),
  hook_id: IdOf('the hook'),
  event: Text('the name of the event'),
  state: OneOf(
    DELIVERY_STATES,
    'HookDeliveryState',
    'whether it waits, has arrived, has failed for good, or was given up'
  ),
  attempts: Integer('tries so far'),
  redelivery_of: Nullable(Integer('the id of the delivery that this one repeats')),
  created_at: Moment('when the event happened'),
  finished_at: Nullable(Moment('when it arrived or failed for good; null before')),
  last_attempt: Nullable(described(LastAttempt, 'the last try; null before the first one'))
}

export const Delivery = Type.Object(record, {
  title: 'HookDelivery',
  description: 'An event that is sent to a hook, with all its tries.'
})
export type Delivery = Static<typeof Delivery>

export const DeliveryAttempt = Type.Object(
  {
    attempt: Integer('which try it is, from 1'),
    ...attempt,
    request_headers: Headers('the headers that were sent; secrets are blotted out'),
    response_headers: Headers('the headers of the answer'),
    response_body: Text('the beginning of the answer: at most hooks.response_limit bytes')
  },
  { title: 'HookDeliveryAttempt', description: 'One try to deliver an event.' }
)

export const DeliveryDetails = Type.Object(
  {
    ...record,
    payload: Type.Unknown({ description: 'the body that is sent; null for one that an older version cut' }),
    tries: Type.Array(DeliveryAttempt, { description: 'all tries, the first one first' })
  },
  { title: 'HookDeliveryDetails', description: 'A delivery with its payload and its tries.' }
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

/** Earlier versions cut the largest payloads, so that they are no JSON: those are shown as the text that they are. */
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
  // Rows that were written before the signature counted as a secret still contain it.
  request_headers: withoutSecretHeaders(parseStored<Record<string, string>>(attempt.request_headers, {})),
  response_headers: parseStored<Record<string, string>>(attempt.response_headers, {}),
  response_body: attempt.response_body
})
