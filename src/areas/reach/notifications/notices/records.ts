// What issues and merge requests have in common: their events, and what their mails show.
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

/** What can be told of a record: its state, that it is new, another assignee, new labels, new names in its texts. */
export type RecordEvent = 'new' | 'close' | 'reopen' | 'merge' | 'reassign' | 'label' | 'mention'

const STATES: { readonly [action: string]: RecordEvent } = {
  open: 'new',
  close: 'close',
  reopen: 'reopen',
  merge: 'merge'
}

/** An update may be several events. */
export function eventsOf(
  action: string,
  { assignee_id: assignee, labels, named }: RecordChanges
): readonly RecordEvent[] {
  const state = STATES[action]
  return [
    ...(state ? [state] : []),
    // Who is assigned at the creation hears that it is new.
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

/** The names that an event calls: those in the texts of what is new, and those that an edit adds. */
export function mentionsBy(event: RecordEvent, texts: RecordTexts, { named = [] }: RecordChanges): readonly string[] {
  if (event === 'mention') return named
  return event === 'new' ? mentionsOf(textOf(texts)) : []
}

const VERBS: { readonly [Event in RecordEvent]: string } = {
  new: 'created',
  close: 'closed',
  reopen: 'reopened',
  merge: 'merged',
  reassign: 'gave another assignee to',
  label: 'added labels to',
  mention: 'mentioned you in'
}

interface Shown {
  readonly event: RecordEvent
  readonly by: number | null
  /** `the issue`. */
  readonly words: string
  readonly record: PublishedRecordEvent
  readonly changes: RecordChanges
  readonly description: string | null
  readonly rest: Pick<RecordFacts, 'project' | 'url' | 'reference'>
}

export async function recordFacts({
  event,
  by,
  words,
  record,
  changes,
  description,
  rest
}: Shown): Promise<RecordFacts> {
  const [before = null, after = null] = changes.assignee_id ?? []
  const nameOf = await readNames([by, record.assignee_id, before, after])
  const added = event === 'label' ? await readTitles(changes.labels?.added ?? []) : []
  const lines: readonly (string | null)[] = [
    event === 'new' && record.assignee_id !== null ? `Assignee: ${nameOf(record.assignee_id)}` : null,
    event === 'reassign' ? `Assignee: ${nameOf(before)} before, ${nameOf(after)} now` : null,
    event === 'label' ? `Labels: ${added.join(', ')}` : null
  ]
  return {
    ...rest,
    is_new: event === 'new',
    title: record.title,
    // Not specified: who it was when a command or the appliance did it.
    happened: `${by === null ? 'An administrator' : nameOf(by)} ${VERBS[event]} ${words}`,
    lines: lines.filter(line => line !== null),
    // Whom an edit names gets one mail of it, whichever it is.
    text: event === 'new' || changes.named ? description : null
  }
}

/** The first titles of labels: a list of all would have no end. */
async function readTitles(ids: readonly number[]): Promise<string[]> {
  const list = padded(ids.slice(0, 50))
  const found = await rows<{ title: string }>(
    `select title from labels where id in (${marks(list)}) order by title`,
    list
  )
  return found.map(({ title }) => title)
}
