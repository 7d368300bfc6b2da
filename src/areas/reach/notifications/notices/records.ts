// What issues and merge requests have in common: their events, and the contents of their mails.
import { marks, padded, rows } from '../../../../db/connect/sql.js'
import type { RecordFacts } from '../../../../mail/kinds.js'
import { mentionsOf, type RecordTexts, textOf } from '../../../../text/mentions.js'
import type { Role } from '../recipients.js'
import { readNames } from './notice.js'

type Pair<T> = readonly [before: T, after: T]

export interface RecordChanges {
  readonly assignee_id?: Pair<number | null>
  readonly labels?: { readonly added: readonly number[] }
  readonly named?: readonly string[]
}

export interface PublishedRecordEvent {
  readonly author_id: number
  readonly assignee_id: number | null
  readonly title: string
}

/**
 * The events of a record: creation, a new state, another assignee, new labels, new mentions in its texts; for merge requests also new
 * commits, another target branch, and the beginning and end of the wait for a build.
 */
export type RecordEvent = 'new' | 'close' | 'reopen' | 'merge' | 'reassign' | 'label' | 'mention' | MergeRequestEvent
export type MergeRequestEvent = 'push' | 'target' | 'wait' | 'cancel'

const STATES: { readonly [action: string]: RecordEvent } = {
  open: 'new',
  close: 'close',
  reopen: 'reopen',
  merge: 'merge'
}

/** One update can be several events. */
export function eventsOf(
  action: string,
  { assignee_id: assignee, labels, named }: RecordChanges
): readonly RecordEvent[] {
  const state = STATES[action]
  return [
    ...(state ? [state] : []),
    // The first assignee gets mail about the new record instead.
    ...(assignee && action !== 'open' ? (['reassign'] as const) : []),
    ...(labels && labels.added.length > 0 && action !== 'open' ? (['label'] as const) : []),
    ...(named && action !== 'open' ? (['mention'] as const) : [])
  ]
}

export function namedBy(
  event: RecordEvent,
  { author_id: author, assignee_id: assignee }: PublishedRecordEvent,
  changes: RecordChanges
): readonly (readonly [Role, number | null])[] {
  const previous = event === 'reassign' ? (changes.assignee_id?.[0] ?? null) : null
  return [
    ['author', author],
    ['assignee', assignee],
    ['previous_assignee', previous]
  ]
}

/** The users and groups that each event mentions: those in the texts of a new record, or those that an edit adds. */
export async function mentionsBy(
  events: readonly RecordEvent[],
  texts: RecordTexts,
  { named = [] }: RecordChanges
): Promise<(event: RecordEvent) => readonly string[]> {
  const ofNew = events.includes('new') ? await mentionsOf(textOf(texts)) : []
  return event => (event === 'mention' ? named : event === 'new' ? ofNew : [])
}

const VERBS: { readonly [Event in RecordEvent]: string } = {
  new: 'created',
  close: 'closed',
  reopen: 'reopened',
  merge: 'merged',
  reassign: 'gave another assignee to',
  label: 'added labels to',
  mention: 'mentioned you in',
  push: 'added commits to',
  target: 'changed the target branch of',
  wait: 'enabled an automatic merge of',
  cancel: 'canceled the automatic merge of'
}

/** What only some mails show: further lines, lists, and another verb. */
export interface More {
  readonly lines: readonly string[]
  readonly parts?: RecordFacts['parts']
  readonly verb?: string
}

interface Shown {
  readonly event: RecordEvent
  readonly by: number | null
  /** `the issue`. */
  readonly words: string
  readonly record: PublishedRecordEvent
  readonly changes: RecordChanges
  readonly description: string | null
  readonly rest: Pick<RecordFacts, 'project' | 'url' | 'reference' | 'answers'>
  readonly more?: More
}

export async function recordFacts({
  event,
  by,
  words,
  record,
  changes,
  description,
  rest,
  more = { lines: [] }
}: Shown): Promise<RecordFacts> {
  const [before = null, after = null] = changes.assignee_id ?? []
  const names = await readNames([by, record.assignee_id, before, after])
  const added = event === 'label' ? await readTitles(changes.labels?.added ?? []) : []
  const lines: readonly (string | null)[] = [
    event === 'new' && record.assignee_id !== null ? `Assignee: ${names.full(record.assignee_id)}` : null,
    event === 'reassign' ? `Assignee: ${names.full(before)} before, ${names.full(after)} now` : null,
    event === 'label' ? `Labels: ${added.join(', ')}` : null,
    ...more.lines
  ]
  return {
    ...rest,
    is_new: event === 'new',
    assigns: event === 'new' || event === 'reassign',
    title: record.title,
    author: names.short(by),
    // Not specified: the name when a command made the change, or when a push has no user.
    happened: `${by === null ? (event === 'push' ? 'Somebody' : 'An administrator') : names.full(by)} ${more.verb ?? VERBS[event]} ${words}`,
    lines: lines.filter(line => line !== null),
    ...(more.parts && { parts: more.parts }),
    // A user whom an edit mentions gets one of its mails, so each of them has the text.
    text: event === 'new' || changes.named ? description : null
  }
}

/** The first titles of labels: the whole list has no limit. */
async function readTitles(ids: readonly number[]): Promise<string[]> {
  const list = padded(ids.slice(0, 50))
  const found = await rows<{ title: string }>(
    `select title from labels where id in (${marks(list)}) order by title`,
    list
  )
  return found.map(({ title }) => title)
}
