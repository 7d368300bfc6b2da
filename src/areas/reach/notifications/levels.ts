// The levels of notification settings, and the events that can be switched on one by one.

/** In the order of their numbers in the records of projects. */
export const LEVELS = ['disabled', 'participating', 'watch', 'global', 'mention', 'custom'] as const
export type LevelName = (typeof LEVELS)[number]

/** "Notification email events", in the order of the specification. */
export const EVENTS = [
  'new_note',
  'new_issue',
  'reopen_issue',
  'close_issue',
  'reassign_issue',
  'new_merge_request',
  'reopen_merge_request',
  'close_merge_request',
  'reassign_merge_request',
  'merge_merge_request',
  'failed_pipeline',
  'success_pipeline'
] as const
export type EventName = (typeof EVENTS)[number]

export const DEFAULT_LEVEL = 'participating'

export const isLevel = (text: string): text is LevelName => (LEVELS as readonly string[]).includes(text)
export const numberOf = (level: LevelName): number => LEVELS.indexOf(level)
export const nameOf = (level: number): LevelName => LEVELS[level] ?? 'global'

/** The events in a column of the type SET. */
export const eventsIn = (text: string | null): ReadonlySet<EventName> =>
  new Set(EVENTS.filter(name => text?.split(',').includes(name)))
