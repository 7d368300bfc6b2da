// Names the events that hooks get: system events, the kinds of project hooks, and the flags that select them.

/** The value of the event header of every delivery to a system hook. */
export const SYSTEM_HOOK_HEADER = 'System Hook'

export const SYSTEM_HOOK_EVENTS = [
  'project_create',
  'project_destroy',
  'project_rename',
  'project_transfer',
  'user_add_to_team',
  'user_remove_from_team',
  'user_create',
  'user_destroy',
  'key_create',
  'key_destroy',
  'deploykey_create',
  'deploykey_destroy',
  'group_create',
  'group_destroy',
  'user_add_to_group',
  'user_remove_from_group',
  'push',
  'tag_push'
] as const

export type SystemHookEvent = (typeof SYSTEM_HOOK_EVENTS)[number]

/** The header of events of confidential issues. */
const CONFIDENTIAL_ISSUE_HEADER = 'Confidential Issue Hook'

/** The kinds of project hooks: for each, the condition on the flags that selects it and the value of its event header. */
export const PROJECT_HOOK_EVENTS = {
  push: { flag: 'push_events', header: 'Push Hook' },
  tag_push: { flag: 'tag_push_events', header: 'Tag Push Hook' },
  issue: { flag: 'issues_events', header: 'Issue Hook' },
  // Only hooks with this flag get confidential issues; the API cannot set the flag.
  confidential_issue: { flag: 'confidential_issues_events', header: CONFIDENTIAL_ISSUE_HEADER },
  note: { flag: 'note_events', header: 'Note Hook' },
  confidential_note: { flag: 'note_events and confidential_issues_events', header: 'Note Hook' },
  merge_request: { flag: 'merge_requests_events', header: 'Merge Request Hook' },
  build: { flag: 'build_events', header: 'Build Hook' },
  pipeline: { flag: 'pipeline_events', header: 'Pipeline Hook' },
  wiki_page: { flag: 'wiki_page_events', header: 'Wiki Page Hook' }
} as const

export type ProjectHookEvent = keyof typeof PROJECT_HOOK_EVENTS

/** The value of the event header of a delivery to a project hook. Throws for an event that such hooks never get. */
export function projectHookHeader(event: string): string {
  if (!Object.hasOwn(PROJECT_HOOK_EVENTS, event)) throw new Error(`no project hook gets the event ${event}`)
  return PROJECT_HOOK_EVENTS[event as ProjectHookEvent].header
}

/** The flag that a system hook needs for this event, or null when the event goes to every system hook. */
export function systemHookFlag(event: SystemHookEvent): 'push_events' | 'tag_push_events' | null {
  if (event === 'push') return 'push_events'
  if (event === 'tag_push') return 'tag_push_events'
  return null
}
