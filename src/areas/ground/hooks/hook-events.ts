// What hooks receive for an event. System hooks and project hooks have different names and payloads.
import type { ProjectHookEvent, SystemHookEvent } from '../../../webhooks/events.js'

export interface HookMessage<Event> {
  readonly event: Event
  /** Called only when a hook subscribes to the event, because the payload of a push is read from git. */
  readonly payload: () => object | Promise<object>
}

export interface HookEvent {
  readonly system?: HookMessage<SystemHookEvent>
  /** `id` is the id of the project. */
  readonly project?: HookMessage<ProjectHookEvent> & { readonly id: number }
}
