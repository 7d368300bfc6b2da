// Comments of GitHub and the automatic notes of changes. They come in several lists for the whole repository, each in the order of time;
// notes here are shown in the order of their ids, so the lists are merged.

import type { Static } from '../../../lib/type.js'
import { SourceRefusal } from '../../projects/imports/source-failures.js'
import { ahead } from '../sources/ahead.js'
import { firstMoment, momentOf } from '../sources/shapes.js'
import type { Draft, Person } from '../sources/source.js'
import { inOrder, items, type Reading } from './lists.js'
import { AT_ONCE, type Known, readAwards } from './planned.js'
import { Comment, CommitComment, IssueEvent, personOf, Review, ReviewComment } from './shapes.js'

/** A change of an issue or pull request that becomes an automatic note. */
interface Change {
  readonly at: string
  readonly number: number
  readonly by: Person
  readonly event: string
}

export interface Changes {
  /** In the order of time. */
  readonly all: readonly Change[]
  readonly merges: ReadonlyMap<number, Change>
}

const TEXTS: { readonly [event: string]: string } = {
  closed: 'Status changed to closed',
  reopened: 'Status changed to reopened',
  merged: 'Status changed to merged'
}

/** Reads who closed, reopened and merged what. The list begins with the newest, and has the changes of labels and others, too. */
export async function readChanges(reading: Reading): Promise<Changes> {
  const found: Change[] = []
  const what = 'change of a state'
  try {
    for await (const { event, actor, created_at, issue } of items(
      reading,
      `${reading.repo}/issues/events`,
      IssueEvent,
      {
        what,
        optional: true
      }
    )) {
      const at = momentOf(created_at)
      if (at !== null && issue && Object.hasOwn(TEXTS, event))
        found.push({ at, number: issue.number, by: personOf(actor), event })
    }
  } catch (error) {
    // GitHub does not show more than a number of pages.
    if (!(error instanceof SourceRefusal) || error.status !== 422) throw error
    reading.skipped(what, 'the source does not show the oldest ones')
  }
  const merges = new Map(found.filter(({ event }) => event === 'merged').map(change => [change.number, change]))
  // A merge also closes the pull request.
  const isPart = ({ event, number, at }: Change) => event === 'closed' && at >= (merges.get(number)?.at ?? '\uffff')
  return { all: found.reverse().filter(change => !isPart(change)), merges }
}

/** The most pairs of a record and a person. */
const MOST_PARTICIPANTS = 1_000_000

/** Returns who commented on what. The pages stay on the disk for noteDrafts. */
export async function readParticipants(reading: Reading): Promise<ReadonlyMap<number, ReadonlySet<string>>> {
  const quiet = { ...reading, skipped: () => {} }
  const options = { what: 'note', optional: true }
  const found = new Map<number, Set<string>>()
  let count = 0
  const add = (number: number, name: Person) => {
    const people = found.get(number) ?? new Set()
    if (name === null || people.has(name) || count++ >= MOST_PARTICIPANTS) return
    found.set(number, people.add(name))
  }
  for await (const { issue_url: url, user } of inOrder(quiet, `${reading.repo}/issues/comments`, Comment, options))
    add(numberOf(url), personOf(user))
  for await (const { pull_request_url: url, user } of inOrder(
    quiet,
    `${reading.repo}/pulls/comments`,
    ReviewComment,
    options
  ))
    add(numberOf(url), personOf(user))
  return found
}

interface NoteDraft extends Draft {
  readonly created_at: string
}

/** Yields all notes in the order of time. */
export async function* noteDrafts(reading: Reading, known: Known, changes: Changes): AsyncGenerator<Draft> {
  const reviews = await readReviews(reading, known)
  yield* merged([
    changeNotes(changes.all, known),
    reviewNotes(reading, reviews),
    comments(reading, known),
    reviewComments(reading, known),
    commitComments(reading)
  ])
}

/** Merges lists that are in the order of time. Of several notes of the same moment, that of an earlier list comes first. */
async function* merged(lists: readonly AsyncGenerator<NoteDraft>[]): AsyncGenerator<NoteDraft> {
  const heads = await Promise.all(lists.map(async list => ({ list, next: await list.next() })))
  try {
    for (;;) {
      let first: (typeof heads)[number] | undefined
      for (const head of heads)
        if (!head.next.done && (!first || head.next.value.created_at < first.next.value.created_at)) first = head
      if (!first) return
      yield first.next.value
      first.next = await first.list.next()
    }
  } finally {
    for (const { list } of heads) await list.return(undefined)
  }
}

interface Written {
  readonly number: number
  readonly author: Person
  readonly note: string
  readonly created_at: string
  readonly updated_at?: string
}

const note = (
  on: object,
  { author, note, created_at, updated_at = created_at }: Omit<Written, 'number'>,
  more: object = {}
) => ({
  kind: 'note' as const,
  on,
  author,
  note,
  is_system: false,
  path: null,
  line: null,
  line_type: null,
  updated_by: null,
  refers: null,
  created_at,
  updated_at,
  award_emoji: [],
  ...more
})

/** Null when the issue or pull request was not read. */
function targetOf(number: number, { issues, pulls }: Known): object | null {
  if (pulls.has(number)) return { type: 'MergeRequest', number, commit: null }
  return issues.has(number) ? { type: 'Issue', number, commit: null } : null
}

async function* changeNotes(changes: readonly Change[], known: Known): AsyncGenerator<NoteDraft> {
  for (const { at, number, by, event } of changes) {
    const on = targetOf(number, known)
    if (on) yield note(on, { author: by, note: TEXTS[event] ?? '', created_at: at }, { is_system: true })
  }
}

/** The number at the end of the URL of an issue or pull request. */
const numberOf = (url: string) => Number(/\/(\d{1,9})$/.exec(url)?.[1] ?? 0)

const UNKNOWN = 'the source does not show what it belongs to'

async function* comments(reading: Reading, known: Known): AsyncGenerator<NoteDraft> {
  for await (const { found, fields } of commented(reading, 'issues/comments', Comment)) {
    const on = targetOf(numberOf(found.issue_url), known)
    if (!on) reading.skipped('note', UNKNOWN)
    else yield note(on, { ...fields, note: found.body ?? '' }, fields)
  }
}

/** Comments of the repository with their awards. */
const commented = <S extends typeof Comment | typeof ReviewComment>(reading: Reading, path: string, schema: S) =>
  ahead(
    inOrder(reading, `${reading.repo}/${path}`, schema, { what: 'note', optional: true }),
    AT_ONCE,
    async found => ({ found, fields: await commentOf(reading, found, `${path}/${found.id}`) })
  )

type Commented = Pick<Static<typeof Comment>, 'user' | 'reactions' | 'created_at' | 'updated_at'>

/** What comments have in common. */
async function commentOf(reading: Reading, { user, reactions, ...times }: Commented, path: string) {
  const created_at = firstMoment(times.created_at, times.updated_at)
  const award_emoji = await readAwards(reading, path, reactions)
  return { author: personOf(user), created_at, updated_at: firstMoment(times.updated_at, created_at), award_emoji }
}

async function* reviewComments(reading: Reading, known: Known): AsyncGenerator<NoteDraft> {
  for await (const { found, fields } of commented(reading, 'pulls/comments', ReviewComment)) {
    const number = numberOf(found.pull_request_url)
    if (!known.pulls.has(number)) {
      reading.skipped('note', UNKNOWN)
      continue
    }
    const { line, path, body } = found
    const place = line ? { path, line, line_type: found.side === 'LEFT' ? 'old' : 'new' } : {}
    const text = line ? (body ?? '') : `${placeText(found)}\n\n${body ?? ''}`
    yield note({ type: 'MergeRequest', number, commit: null }, { ...fields, note: text }, { ...fields, ...place })
  }
}

const MOST_LINES = 8
const LONGEST_LINE = 500

/** Says what a comment is about whose lines the last version does not have: notes here are at lines of a version that is kept. */
function placeText({ path, original_line: line, diff_hunk: hunk }: ReviewComment): string {
  const name = `\`${path.replaceAll('`', "'").slice(0, 500)}\``
  if (!line) return `*On ${name}:*`
  const lines = (hunk ?? '')
    .split('\n')
    .slice(-MOST_LINES)
    .map(each => each.slice(0, LONGEST_LINE))
  const fence = '`'.repeat(Math.max(3, ...lines.map(each => (/`{3,}/.exec(each)?.[0].length ?? 0) + 1)))
  const shown = hunk ? `\n\n${fence}diff\n${lines.join('\n')}\n${fence}` : ''
  return `*On line ${line} of ${name}, in an earlier version:*${shown}`
}

async function* commitComments(reading: Reading): AsyncGenerator<NoteDraft> {
  for await (const found of items(reading, `${reading.repo}/comments`, CommitComment, {
    what: 'note',
    optional: true
  })) {
    const fields = await commentOf(reading, found, `comments/${found.id}`)
    const place = found.path && found.line ? { path: found.path, line: found.line, line_type: 'new' } : {}
    const on = { type: 'Commit', number: null, commit: found.commit_id }
    yield note(on, { ...fields, note: found.body ?? '' }, { ...fields, ...place })
  }
}

interface ReviewPlace {
  readonly at: string
  readonly number: number
  readonly id: number
}

const reviewsOf = (reading: Reading, number: number) =>
  items(reading, `${reading.repo}/pulls/${number}/reviews`, Review, { what: 'review', optional: true })

const VERDICTS: { readonly [state: string]: string } = {
  APPROVED: 'Approved this merge request',
  CHANGES_REQUESTED: 'Requested changes'
}
const saysSomething = ({ state, body }: Review) =>
  state !== 'PENDING' && (Object.hasOwn(VERDICTS, state) || Boolean(body?.trim()))

/** Finds the reviews and sorts them by time. Only lists of single pull requests have them. Their texts stay on the disk until then. */
async function readReviews(reading: Reading, { pulls }: Known): Promise<readonly ReviewPlace[]> {
  const found: ReviewPlace[] = []
  const read = ahead(pulls, AT_ONCE, async number => {
    const some: ReviewPlace[] = []
    for await (const review of reviewsOf(reading, number)) {
      const at = firstMoment(review.submitted_at)
      if (saysSomething(review)) some.push({ at, number, id: review.id })
    }
    return some
  })
  for await (const some of read) found.push(...some)
  return found.sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)))
}

/** Yields an automatic note for the verdict of a review, and a note with its text. */
async function* reviewNotes(reading: Reading, places: readonly ReviewPlace[]): AsyncGenerator<NoteDraft> {
  // What is wrong with a review was reported when it was found.
  const quiet = { ...reading, skipped: () => {} }
  for (const { at, number, id } of places) {
    const on = { type: 'MergeRequest', number, commit: null }
    for await (const review of reviewsOf(quiet, number)) {
      if (review.id !== id) continue
      const fields = { author: personOf(review.user), created_at: at }
      const verdict = Object.hasOwn(VERDICTS, review.state) ? VERDICTS[review.state] : undefined
      if (verdict !== undefined) yield note(on, { ...fields, note: verdict }, { is_system: true })
      if (review.body?.trim()) yield note(on, { ...fields, note: review.body })
      break
    }
  }
}
