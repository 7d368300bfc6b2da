// What hooks hear of a happening. Those of the instance and those of the project hear of it in their own words.
import type { ProjectHookEvent, SystemHookEvent } from '../../webhooks/events.js'

export interface HookMessage<Event> {
  readonly event: Event
  /** Asked for when a hook wants the event: what a push brings is read from git. */
  readonly payload: () => object | Promise<object>
}

export interface HookEvent {
  readonly system?: HookMessage<SystemHookEvent>
  /** `id` is the project's. */
  readonly project?: HookMessage<ProjectHookEvent> & { readonly id: number }
}
