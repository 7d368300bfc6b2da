// The notes about a record as one stream, for templates/web/planning/discussion.eta. notes.ts has the routes of its forms.
import type { FastifyRequest } from 'fastify'
import { may } from '../../../access/authorize.js'
import { type AwardCount, countAwards } from '../../../areas/planning/discussion/awards.queries.js'
import {
  type CommitCommentRow,
  listCommitComments
} from '../../../areas/planning/discussion/comments/commit-comments.queries.js'
import { mayChangeNote } from '../../../areas/planning/discussion/note-rights.js'
import type { Noteable, NoteableType } from '../../../areas/planning/discussion/noteables.js'
import { listNotes, type NoteRow, noteIdsBefore } from '../../../areas/planning/discussion/notes.queries.js'
import type { ProjectRow } from '../../../areas/projects/projects/projects.queries.js'
import type { Page } from '../../../db/lists/paginate.js'
import { commandLines } from '../../../text/slash-commands.js'
import { keptHtml } from '../../plugins/kept-readings.js'
import { path, timed } from '../components.js'
import { renderPart } from '../page.js'
import { projectPath } from '../place.js'
import { textsHtml } from '../text/texts.js'
import { type Awards, awardsShown } from './awards.js'
import { shortened } from './long-notes.js'

/** Notes on a page of a stream. */
export const NOTES = 100

export interface ShownNote {
  readonly id: number
  readonly author: { readonly name: string; readonly username: string }
  readonly html: string
  /** Whether the text is only its beginning. */
  readonly isCut: boolean
  readonly createdAt: Date
  /** When it was last changed, if it was. */
  readonly editedAt: Date | null
  readonly isSystem: boolean
  readonly mayEdit: boolean
  /** The lines that look like commands and have become text. Only its author sees them, after sending it. */
  readonly notRun: readonly string[]
  readonly awards: Awards | null
  /** The line of a commit or a merge request, with the page that shows it. */
  readonly line: {
    readonly path: string
    readonly number: number
    readonly side: 'old' | 'new'
    readonly href?: string | undefined
  } | null
}

export interface Discussion {
  /** The path of the project, NAMESPACE/PROJECT. */
  readonly project: string
  /** The path below which the forms post. */
  readonly base: string
  readonly notes: readonly ShownNote[]
  readonly stream: Page<unknown>
  /** The ids of earlier notes, so that links to them find a way to their page. */
  readonly earlier: readonly number[]
  /** The lines of code that notes are about, as rows of HTML by the ids of the notes. */
  readonly excerpts?: ReadonlyMap<number, string>
  /** The HTML of all this, if it was kept or may be. */
  readonly streamHtml?: string
  /** The awards of the record itself. */
  readonly awards: Awards | null
  /** The description of the record as HTML; empty without one. */
  readonly description: string
  readonly mayWrite: boolean
  /** The word of the record, such as `issue`, and whether the visitor may close or reopen it. */
  readonly word: string
  readonly command: 'close' | 'reopen' | null
}

type Asked = Pick<FastifyRequest, 'project' | 'actor' | 'query'>

const KINDS: { readonly [Type in NoteableType]: { readonly segment: string; readonly word: string } } = {
  Issue: { segment: 'issues', word: 'issue' },
  MergeRequest: { segment: 'merge_requests', word: 'merge request' },
  Snippet: { segment: 'snippets', word: 'snippet' }
}

export const pathOf = (project: ProjectRow): string => `${project.namespace_path}/${project.path}`

export const notesPath = (project: ProjectRow, type: NoteableType, id: number): string =>
  projectPath(project) + path('notes', KINDS[type].segment, id)

/** What the stream shows of rows: the reading of a page may keep it. */
export interface StreamReading {
  readonly stream: Page<NoteRow>
  readonly earlier: readonly number[]
  /** Of the notes, in their order. */
  readonly awards: readonly (readonly AwardCount[])[]
  readonly ownAwards: readonly AwardCount[]
}

interface About {
  readonly description?: string | null
  readonly command?: Discussion['command']
  /** Returns the page that shows the line of a note. */
  readonly linePage?: (noteId: number) => string
  /** The reading of the page (`keptReading`) that has the stream, and the path of the page: the HTML is kept with the reading. */
  readonly kept?: { readonly read: object; readonly here: string }
}

/** Reads the notes about a record that the visitor may read: the newest page, or the one of the query. */
export async function readStream(
  { actor, query }: Pick<Asked, 'actor' | 'query'>,
  noteable: Noteable
): Promise<StreamReading> {
  const stream = await newestPage(page => listNotes(noteable, { page, per_page: NOTES }, actor), query)
  const ids = stream.items.map(({ id }) => id)
  const [awardsOf, earlier] = await Promise.all([
    countAwards(noteable, ids, actor.user?.id),
    stream.page > 1 && ids[0] !== undefined ? noteIdsBefore(noteable, ids[0], actor) : []
  ])
  return { stream, earlier, awards: ids.map(id => awardsOf('Note', id)), ownAwards: awardsOf('target', noteable.id) }
}

/** Reads the stream of an issue, a merge request or a snippet, and shows it. */
export const readDiscussion = async (request: Asked, noteable: Noteable, about: About): Promise<Discussion> =>
  showDiscussion(request, noteable, await readStream(request, noteable), about)

/**
 * Makes what a page shows of a stream. `command` is what a button next to the form may do with the record. Renders the description
 * together with the notes.
 */
export async function showDiscussion(
  { project, actor, query }: Asked,
  noteable: Noteable,
  { stream, earlier, awards: counts, ownAwards }: StreamReading,
  { description = null, command = null, linePage, kept }: About
): Promise<Discussion> {
  const shown = shortened(stream.items.map(({ note }) => note))
  const [descriptionHtml = '', ...texts] = await textsHtml([description, ...shown.map(({ text }) => text)], {
    project,
    actor
  })
  const mayWrite = may(actor, 'note.write', project)
  const mayAward = may(actor, 'award.write', project)
  const awards = (counts: readonly AwardCount[], authorId: number) =>
    awardsShown(counts, mayAward ? authorId : null, actor)
  const discussion: Discussion = {
    project: pathOf(project),
    base: notesPath(project, noteable.type, noteable.id),
    notes: stream.items.map((note, at) => ({
      ...noteShown(note),
      line: lineOf(note, linePage?.(note.id)),
      html: texts[at] ?? '',
      isCut: shown[at]?.isCut ?? false,
      mayEdit: mayChangeNote(note, project, actor),
      notRun: isKept(query, note.id) ? linesNotRun(note.note) : [],
      awards: note.is_system === 1 ? null : awards(counts[at] ?? [], note.author_id)
    })),
    stream,
    earlier,
    awards: awards(ownAwards, noteable.authorId),
    description: descriptionHtml,
    mayWrite,
    word: KINDS[noteable.type].word,
    command: mayWrite ? command : null
  }
  if (kept === undefined) return discussion
  const make = () => timed(() => renderPart('planning/stream', { discussion, here: kept.here }))
  return { ...discussion, streamHtml: keptHtml(kept.read, texts, make) }
}

/** Reads the comments on a commit as a stream. */
export async function readCommitDiscussion({ project, actor, query }: Asked, sha: string): Promise<Discussion> {
  const stream = await newestPage(page => listCommitComments(project.id, sha, { page, per_page: NOTES }), query)
  const shown = shortened(stream.items.map(({ note }) => note))
  const texts = await textsHtml(
    shown.map(({ text }) => text),
    { project, actor }
  )
  return {
    project: pathOf(project),
    base: `${projectPath(project)}${path('commit', sha, 'notes')}`,
    notes: stream.items.map((comment, at) => ({
      id: comment.id,
      author: { name: comment.author_name, username: comment.author_username },
      html: texts[at] ?? '',
      isCut: shown[at]?.isCut ?? false,
      createdAt: comment.created_at,
      editedAt: null,
      isSystem: false,
      mayEdit: false,
      notRun: [],
      awards: null,
      line: lineOf(comment)
    })),
    stream,
    earlier: [],
    awards: null,
    description: '',
    mayWrite: may(actor, 'commit.comment', project),
    word: 'commit',
    command: null
  }
}

/** Most lines that a page names. */
const MOST_LINES = 10

/** Returns the lines of a note that look like commands: those that did something are no part of it. */
export const linesNotRun = (note: string): string[] =>
  commandLines(note)
    .slice(0, MOST_LINES)
    .map(({ name, argument }) => `/${name} ${argument}`.trim().slice(0, 80))

/** The parameter, after `mark`, by which a page says once what has become of the commands in a note. Empty without such lines. */
export const keptQuery = (note: { readonly id: number; readonly note: string }, mark: '?' | '&'): string =>
  linesNotRun(note.note).length > 0 ? `${mark}kept=${note.id}` : ''

export const isKept = (query: unknown, noteId: number): boolean => Number((query as { kept?: unknown }).kept) === noteId

/** Notes stand in the order in which they were written, and readers want the newest ones: those of the last page. */
async function newestPage<Row>(read: (page: number) => Promise<Page<Row>>, query: unknown): Promise<Page<Row>> {
  const { page } = query as { page?: unknown }
  const asked = Math.trunc(Number(page))
  if (asked >= 1) return read(asked)
  const first = await read(1)
  return first.total > NOTES ? read(Math.ceil(first.total / NOTES)) : first
}

const noteShown = (note: NoteRow) => ({
  id: note.id,
  author: { name: note.author_name, username: note.author_username },
  createdAt: note.created_at,
  editedAt: note.updated_at.getTime() === note.created_at.getTime() ? null : note.updated_at,
  isSystem: note.is_system === 1
})

const lineOf = (
  { path: name, line, line_type: side }: Pick<CommitCommentRow, 'path' | 'line' | 'line_type'>,
  href?: string
): ShownNote['line'] =>
  name === null || line === null ? null : { path: name, number: line, side: side === 'old' ? side : 'new', href }
