// Decides who gets which mail, and why ("Notifications"): a pure function of facts. It uses neither the database nor mail.
import type { EventName, LevelName } from './levels.js'

/** Events that can cause mail: those in settings, added labels, other changes of merge requests, and mentions that an edit adds. */
export type MailEvent = EventName | 'label_added' | 'update_merge_request' | 'mentioned'

/** The relations of a person to the target. */
export const ROLES = [
  'author',
  'assignee',
  'previous_assignee',
  /** Has written about the target, or was mentioned in it before. */
  'participant',
  /** In the text that is mailed. */
  'mentioned',
  /** Has subscribed to the target, or unsubscribed from it. */
  'subscriber',
  'unsubscribed',
  /** Has subscribed to one of the labels: the added ones, or those of a new target. */
  'label_subscriber',
  /** The pipeline runs in the name of this user. */
  'pipeline_user'
] as const
export type Role = (typeof ROLES)[number]

/**
 * The setting that applies to a user in the project: that of the project, unless it is global; then that of the group; then the
 * global one.
 */
export interface Applied {
  readonly level: Exclude<LevelName, 'global'>
  readonly from: 'project' | 'group' | 'global'
  /** The events that are switched on in the applied setting. They count with the level custom. */
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
  /** The user who caused the event; null for none, such as for the end of a pipeline. */
  readonly actorId: number | null
  /** A merge happened because its pipeline succeeded: the user who had asked for it may get mail about it. */
  readonly byItself?: boolean
  readonly people: readonly Person[]
}

/** Why a person gets a mail. */
export type Reason =
  | Extract<Role, 'author' | 'assignee' | 'previous_assignee' | 'participant' | 'mentioned' | 'subscriber'>
  | Extract<Role, 'label_subscriber' | 'pipeline_user'>
  | 'watcher'
  | 'custom'

/** Why a person gets no mail. */
export type Refusal = 'actor' | 'blocked' | 'unreadable' | 'unsubscribed' | 'disabled' | 'level'

export type Verdict =
  | { readonly mail: true; readonly reason: Reason }
  | { readonly mail: false; readonly refusal: Refusal }

export interface Recipient {
  readonly userId: number
  readonly reason: Reason
}

/** Returns the recipients of mail about an event, each once. */
export function recipientsOf(event: MailEvent, facts: Facts): readonly Recipient[] {
  return facts.people.flatMap(person => {
    const verdict = judge(event, person, facts)
    return verdict.mail ? [{ userId: person.id, reason: verdict.reason }] : []
  })
}

/** Returns whether one person gets mail about an event, and why. */
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

/** The first reason that applies. The closest relation comes first, because the mail states it. */
function reasonOf(event: MailEvent, person: Person): Reason | undefined {
  if (event === 'label_added') return person.roles.has('label_subscriber') ? 'label_subscriber' : undefined
  if (event === 'mentioned') return person.roles.has('mentioned') ? 'mentioned' : undefined
  return named(event, person) ?? participating(person) ?? asked(event, person) ?? watching(event, person)
}

/** People whom the event itself names get mail at every level. */
function named(event: MailEvent, { roles }: Person): Reason | undefined {
  // Not specified: the first assignee at the level mention. An assignee of something new gets mail, as after a change.
  const assigns = isNew(event) || event === 'reassign_issue' || event === 'reassign_merge_request'
  if (assigns && roles.has('assignee')) return 'assignee'
  if (assigns && roles.has('previous_assignee')) return 'previous_assignee'
  return roles.has('mentioned') ? 'mentioned' : undefined
}

const PARTICIPANTS = ['assignee', 'author', 'pipeline_user', 'participant'] as const

function participating({ applied, roles }: Person): Reason | undefined {
  return applied.level === 'mention' ? undefined : PARTICIPANTS.find(role => roles.has(role))
}

function asked(event: MailEvent, { roles }: Person): Reason | undefined {
  if (roles.has('subscriber')) return 'subscriber'
  return isNew(event) && roles.has('label_subscriber') ? 'label_subscriber' : undefined
}

function watching(event: MailEvent, { applied, isMember }: Person): Reason | undefined {
  // The global setting applies to the projects that the user is a member of.
  if (applied.from === 'global' && !isMember) return undefined
  if (applied.level === 'watch' && event !== 'success_pipeline') return 'watcher'
  return applied.level === 'custom' && (applied.events as ReadonlySet<MailEvent>).has(event) ? 'custom' : undefined
}

const isNew = (event: MailEvent) => event === 'new_issue' || event === 'new_merge_request'
