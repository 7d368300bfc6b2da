// The services that a project can have, as data: their names, fields and events. No field is a password, because only
// administrators might see one.

/** `addresses` are separated by white space or commas. */
export type FieldType = 'text' | 'flag' | 'url' | 'addresses'

export interface Field {
  readonly type: FieldType
  readonly required?: true
}

export interface Kind {
  readonly title: string
  readonly fields: { readonly [name: string]: Field }
  /** The hook flags of the events that it receives. */
  readonly events: readonly EventFlag[]
}

export const EVENT_FLAGS = [
  'push_events',
  'issues_events',
  'merge_requests_events',
  'tag_push_events',
  'note_events',
  'build_events',
  'pipeline_events'
] as const
export type EventFlag = (typeof EVENT_FLAGS)[number]

const FLAG = { type: 'flag' } as const
const TEXT = { type: 'text' } as const
const WEB_URL = { type: 'url', required: true } as const
const RECIPIENTS = { type: 'addresses', required: true } as const

// Not specified: the titles, and the flags of events. The flags that a service reacts to are always set.
export const KINDS = {
  'emails-on-push': {
    title: 'Emails on push',
    fields: { recipients: RECIPIENTS, disable_diffs: FLAG, send_from_committer_email: FLAG },
    events: ['push_events', 'tag_push_events']
  },
  'builds-email': {
    title: 'Builds emails',
    fields: { recipients: RECIPIENTS, add_pusher: FLAG, notify_only_broken_builds: FLAG },
    events: ['build_events']
  },
  'pipelines-email': {
    title: 'Pipelines emails',
    fields: { recipients: RECIPIENTS, notify_only_broken_builds: FLAG },
    events: ['pipeline_events']
  },
  'external-wiki': { title: 'External Wiki', fields: { external_wiki_url: WEB_URL }, events: [] },
  'custom-issue-tracker': {
    title: 'Custom Issue Tracker',
    fields: { new_issue_url: WEB_URL, issues_url: WEB_URL, project_url: WEB_URL, title: TEXT, description: TEXT },
    events: []
  }
} as const satisfies { readonly [slug: string]: Kind }

export type Slug = keyof typeof KINDS

export const SLUGS = Object.keys(KINDS) as Slug[]

export const isSlug = (text: string): text is Slug => Object.hasOwn(KINDS, text)

/** Returns the fields of a service by their names. */
export const fieldsOf = (slug: Slug): [name: string, field: Field][] => Object.entries(KINDS[slug].fields)
