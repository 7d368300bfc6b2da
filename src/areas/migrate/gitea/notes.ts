// Notes and award emoji of Gitea: comments, reviews, and the comments of reviews about lines.

import { SourceRefusal } from '../../projects/imports/source-failures.js'
import { ahead } from '../sources/ahead.js'
import { held } from '../sources/held.js'
import { type Award, awardsOf, checked, firstMoment, momentOf } from '../sources/shapes.js'
import type { Draft } from '../sources/source.js'
import { itemsOf } from './lists.js'
import { personOf } from './people.js'
import type { Reading } from './reading.js'
import { type Author, Comment, File, LineComment, Reaction, Review } from './shapes.js'

/** Comments whose emoji are fetched at once. */
const AT_ONCE = 4
/** Notes of one record, and their characters: they are in memory together, because they come from several lists. */
const MOST_NOTES = 100_000
const MOST_CHARACTERS = 16_000_000

const checkComment = checked(Comment)
const checkReview = checked(Review)
const checkLineComment = checked(LineComment)
const checkReaction = checked(Reaction)
const checkFile = checked(File)

/** Returns the emoji that were awarded to the record at a path of the API. Gogs has none. */
export async function readAwards(reading: Reading, path: string): Promise<Award[]> {
  if (reading.isGogs) return []
  const given: { name: string; user: string | null; at: string }[] = []
  const report = { what: 'award emoji', skipped: reading.skipped }
  for await (const { content, user, created_at } of itemsOf(reading, `${path}/reactions`, checkReaction, report))
    given.push({ name: content, user: personOf(user), at: firstMoment(created_at) })
  return awardsOf(given, reading.skipped)
}

/** Returns the files of an issue or a pull request. Lists of these have none, although they have a field for them. Gogs has no files. */
export async function readFiles(reading: Reading, number: number): Promise<File[]> {
  const files: File[] = []
  if (reading.isGogs) return files
  const report = { what: 'file', skipped: reading.skipped }
  for await (const file of itemsOf(reading, `${reading.path}/issues/${number}/assets`, checkFile, report))
    files.push(file)
  return files
}

interface Written {
  readonly body?: string | null
  readonly original_author?: string | null
  readonly assets?: readonly File[] | null
}

/**
 * Returns a text with everything that Gitea shows with it: files that it does not name, and who wrote it on the forge from which
 * Gitea itself has imported it.
 */
export function wholeText({ body, original_author, assets }: Written): string {
  let text = body ?? ''
  for (const { name, uuid } of assets ?? []) {
    if (!uuid) continue
    // The address of a file does not have its name.
    const file = `attachments/${uuid}`
    const named = `${file}#${encodeURIComponent(name).replace(/[!'()*~]/g, sign => `%${sign.charCodeAt(0).toString(16)}`)}`
    if (text.includes(file)) text = text.replaceAll(file, named)
    else text = `${text}\n\n[${name.replace(/[[\]\\\n]/g, ' ')}](/${named})`
  }
  return original_author ? `${text}\n\n*Written by ${original_author} on another forge.*`.trim() : text
}

interface Numbered {
  readonly type: 'Issue' | 'MergeRequest'
  readonly number: number
}

/** Returns the author of a text. Gitea names an account of its own for what it has imported. */
export const authorOf = (user: Author, original: string | null | undefined) => (original ? null : personOf(user))

/** Returns the notes about an issue or a pull request, in the order of their dates. */
export async function readNotes(
  reading: Reading,
  about: Numbered,
  comments: number | null | undefined
): Promise<Draft[]> {
  const notes: Draft[] = []
  let size = 0
  const add = (note: Draft) => {
    size += String(note.note).length
    if (notes.push(note) > MOST_NOTES || size > MOST_CHARACTERS)
      throw new SourceRefusal(
        new URL(`${reading.path}/issues/${about.number}`, reading.base),
        `has more than ${MOST_NOTES} comments, or more than ${MOST_CHARACTERS} characters of them`
      )
  }
  const report = { what: 'note', skipped: reading.skipped }
  if (comments !== 0) {
    const list = itemsOf(reading, `${reading.path}/issues/${about.number}/comments`, checkComment, report)
    const drafts = ahead(list, AT_ONCE, async comment => ({
      ...noteOf(about, { ...comment, author: authorOf(comment.user, comment.original_author) }),
      award_emoji: await readAwards(reading, `${reading.path}/issues/comments/${comment.id}`)
    }))
    for await (const draft of drafts) add(draft)
  }
  if (about.type === 'MergeRequest' && !reading.isGogs)
    for await (const draft of reviewNotes(reading, about)) add(draft)
  return notes.sort((one, other) => (String(one.created_at) < String(other.created_at) ? -1 : 1))
}

interface GivenNote extends Written {
  readonly author: string | null
  readonly created_at?: string | null
  readonly updated_at?: string | null
}

function noteOf({ type, number }: Numbered, { author, created_at: made, updated_at, ...text }: GivenNote) {
  const created_at = firstMoment(made, updated_at)
  return {
    kind: 'note' as const,
    on: { type, number, commit: null },
    author,
    note: wholeText(text),
    is_system: false,
    path: null as string | null,
    line: null as number | null,
    line_type: null as 'new' | 'old' | null,
    updated_by: null,
    refers: null,
    created_at,
    updated_at: firstMoment(updated_at, created_at),
    award_emoji: [] as Award[]
  }
}

const VERDICTS: { readonly [state: string]: string } = {
  APPROVED: 'Approved this merge request',
  REQUEST_CHANGES: 'Requested changes'
}

async function* reviewNotes(reading: Reading, about: Numbered): AsyncGenerator<Draft> {
  const pull = `${reading.path}/pulls/${about.number}`
  const report = { what: 'review', skipped: reading.skipped }
  for await (const review of itemsOf(reading, `${pull}/reviews`, checkReview, report)) {
    // Only its author sees a review that is not finished. A request for one is no review.
    if (review.state === 'PENDING' || review.state === 'REQUEST_REVIEW') continue
    const author = personOf(review.user)
    const written = { author, created_at: review.submitted_at ?? null }
    const verdict = VERDICTS[review.state]
    if (verdict) yield { ...noteOf(about, { ...written, body: verdict }), is_system: true }
    if (review.body) yield noteOf(about, { ...written, body: review.body })
    if (review.comments_count !== 0) yield* lineNotes(reading, about, `${pull}/reviews/${review.id}/comments`)
  }
}

async function* lineNotes(reading: Reading, about: Numbered, path: string): AsyncGenerator<Draft> {
  const report = { what: 'note about a line', skipped: reading.skipped }
  const comments = await held(itemsOf(reading, path, checkLineComment, report), report)
  // The list is in any order, and those of a review often have the same date.
  comments.sort((one, other) => one.id - other.id)
  yield* ahead(comments, AT_ONCE, async comment => ({
    ...noteOf(about, { ...comment, author: personOf(comment.user) }),
    ...placeOf(comment),
    award_emoji: await readAwards(reading, `${reading.path}/issues/comments/${comment.id}`)
  }))
}

/** `position` is the line in the new file, `original_position` that of a removed line. Zero and negative numbers stand for none. */
function placeOf({ path, position, original_position: removed }: LineComment) {
  if (!path) return {}
  if (position && position > 0) return { path, line: position, line_type: 'new' as const }
  return removed && removed > 0 ? { path, line: removed, line_type: 'old' as const } : {}
}

/** Returns the automatic note about a merge; undefined when there was none. */
export function mergeNote(about: Numbered, author: string | null, at: string | null | undefined): Draft | undefined {
  const created_at = momentOf(at)
  return created_at === null
    ? undefined
    : { ...noteOf(about, { author, created_at, body: 'Status changed to merged' }), is_system: true }
}
