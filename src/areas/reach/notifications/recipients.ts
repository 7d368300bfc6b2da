// Who gets which mail, and why ("Notifications"): a pure function of facts. It knows neither the database nor mail.
import type { EventName, LevelName } from './levels.js'

/** What can be mailed: the events of settings, that something has got labels, and that an edit mentions somebody. */
export type MailEvent = EventName | 'label_added' | 'mentioned'

/** What somebody has to do with the target. */
export const ROLES = [
  'author',
  'assignee',
  'previous_assignee',
  /** Has written about it, or was mentioned in it before. */
  'participant',
  /** By the text that is mailed. */
  'mentioned',
  /** Has asked to hear of it, or not to. */
  'subscriber',
  'unsubscribed',
  /** Hears of one of the labels: of those that were added, or of a new target's. */
  'label_subscriber',
  /** The pipeline runs in the name of this user. */
  'pipeline_user'
] as const
export type Role = (typeof ROLES)[number]

/** What holds for a user in the project: the setting of the project, unless that is global; then of the group; then of all. */
export interface Applied {
  readonly level: Exclude<LevelName, 'global'>
  readonly from: 'project' | 'group' | 'global'
  /** Switched on where the level comes from. They count with the level custom. */
  readonly events: ReadonlySet<EventName>
}

export interface Person {
  readonly id: number
  readonly applied: Applied
  readonly roles: ReadonlySet<Role>
  readonly isBlocked: boolean
  readonly isMember: boolean
  readonly canRead: boolean
}

export interface Facts {
  /** Who did it; null when nobody did, such as for the end of a pipeline. */
  readonly actorId: number | null
  /** A merge happened because its pipeline succeeded: who had asked for it may hear of it. */
  readonly byItself?: boolean
  readonly people: readonly Person[]
}

/** Why somebody gets a mail. */
export type Reason =
  | Extract<Role, 'author' | 'assignee' | 'previous_assignee' | 'participant' | 'mentioned' | 'subscriber'>
  | Extract<Role, 'label_subscriber' | 'pipeline_user'>
  | 'watcher'
  | 'custom'

/** Why somebody gets none. */
export type Refusal = 'actor' | 'blocked' | 'unreadable' | 'unsubscribed' | 'disabled' | 'level'

export type Verdict =
  | { readonly mail: true; readonly reason: Reason }
  | { readonly mail: false; readonly refusal: Refusal }

export interface Recipient {
  readonly userId: number
  readonly reason: Reason
}

/** Returns who gets mail of an event, each once. */
export function recipientsOf(event: MailEvent, facts: Facts): readonly Recipient[] {
  return facts.people.flatMap(person => {
    const verdict = judge(event, person, facts)
    return verdict.mail ? [{ userId: person.id, reason: verdict.reason }] : []
  })
}

/** Returns whether one person gets mail of an event, and why. */
export function judge(event: MailEvent, person: Person, facts: Omit<Facts, 'people'>): Verdict {
  const refusal = refusalOf(person, facts)
  if (refusal) return { mail: false, refusal }
  const reason = reasonOf(event, person)
  return reason ? { mail: true, reason } : { mail: false, refusal: 'level' }
}

function refusalOf({ id, applied, roles, isBlocked, canRead }: Person, { actorId, byItself }: Omit<Facts, 'people'>) {
  if (id === actorId && !byItself) return 'actor'
  if (isBlocked) return 'blocked'
  if (!canRead) return 'unreadable'
  if (applied.level === 'disabled') return 'disabled'
  return roles.has('unsubscribed') ? 'unsubscribed' : undefined
}

/** The first reason that holds; the nearest ones come first, because the mail says it. */
function reasonOf(event: MailEvent, person: Person): Reason | undefined {
  if (event === 'label_added') return person.roles.has('label_subscriber') ? 'label_subscriber' : undefined
  if (event === 'mentioned') return person.roles.has('mentioned') ? 'mentioned' : undefined
  return named(event, person) ?? participating(person) ?? asked(event, person) ?? watching(event, person)
}

/** Whom the event itself names hears of it at every level. */
function named(event: EventName, { roles }: Person): Reason | undefined {
  // Not specified: the first assignee at the level mention. Who is given something new hears of it, as by a change.
  const assigns = isNew(event) || event === 'reassign_issue' || event === 'reassign_merge_request'
  if (assigns && roles.has('assignee')) return 'assignee'
  if (assigns && roles.has('previous_assignee')) return 'previous_assignee'
  return roles.has('mentioned') ? 'mentioned' : undefined
}

const PARTICIPANTS = ['assignee', 'author', 'pipeline_user', 'participant'] as const

function participating({ applied, roles }: Person): Reason | undefined {
  return applied.level === 'mention' ? undefined : PARTICIPANTS.find(role => roles.has(role))
}

function asked(event: EventName, { roles }: Person): Reason | undefined {
  if (roles.has('subscriber')) return 'subscriber'
  return isNew(event) && roles.has('label_subscriber') ? 'label_subscriber' : undefined
}

function watching(event: EventName, { applied, isMember }: Person): Reason | undefined {
  // The setting of everything is about the projects of which one is a member.
  if (applied.from === 'global' && !isMember) return undefined
  if (applied.level === 'watch' && event !== 'success_pipeline') return 'watcher'
  return applied.level === 'custom' && applied.events.has(event) ? 'custom' : undefined
}

const isNew = (event: EventName) => event === 'new_issue' || event === 'new_merge_request'
