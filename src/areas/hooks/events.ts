// System events: told in the transaction that causes them, delivered by jobs.
import { enqueue, enqueueAll } from '../../queue/enqueue.js'
import type { SystemHookEvent } from '../../webhooks/events.js'

/** Tells an event to the system hooks. `key` is the same however often the event is told, and unique to it. */
export async function emitEvent(key: string, payload: { event_name: SystemHookEvent }): Promise<void> {
  await enqueue('event.emitted', { key, event: payload.event_name, payload: { ...payload } })
}

/** Tells many events at once; the keys are those of emitEvent. */
export async function emitEvents(
  events: readonly (readonly [string, { event_name: SystemHookEvent }])[]
): Promise<void> {
  await enqueueAll(
    'event.emitted',
    events.map(([key, payload]) => ({ key, event: payload.event_name, payload: { ...payload } }))
  )
}
