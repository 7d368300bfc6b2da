// Mails about notes on issues, merge requests and snippets of projects, and on commits.
import { may } from '../../../../access/authorize.js'
import { DamagedRepository, readCommit } from '../../../../git/objects/objects.js'
import { GitLimit } from '../../../../git/process/run.js'
import type { NoteFacts } from '../../../../mail/kinds.js'
import { oneLine } from '../../../../mail/render.js'
import { linesTo } from '../../../../text/diff-excerpts.js'
import { mentionsOf } from '../../../../text/mentions.js'
import { readDiff } from '../../../code/history/commit-diff.js'
import type { Published } from '../../../ground/activity/events.js'
import {
  type CommitCommentRow,
  findCommitComment
} from '../../../planning/discussion/comments/commit-comments.queries.js'
import { notedLines } from '../../../planning/discussion/line-notes.js'
import { findToldNote, type NoteRow } from '../../../planning/discussion/notes.queries.js'
import { findToldIssue } from '../../../planning/issues/issues.queries.js'
import { findMergeRequest } from '../../../planning/merge-requests/merge-requests.queries.js'
import type { ProjectRow } from '../../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../../projects/projects/repositories.js'
import { findSnippet, seenLevels } from '../../../projects/snippets/snippets.queries.js'
import type { Concerned } from '../people.queries.js'
import { issueReadable } from './issues.js'
import { mergeRequestReadable } from './merge-requests.js'
import { type Notice, pathOf, readNames, readProject, urlOf } from './notice.js'

/** Characters of the path and number of a line. */
const LONGEST_PLACE = 300

/** The target of a note. */
interface Subject {
  readonly concerned: Pick<Concerned, 'target' | 'writers' | 'named' | 'isReadable'>
  readonly thread: string
  readonly page: string
  readonly words: string
  readonly shown: Pick<NoteFacts, 'reference' | 'title' | 'place' | 'answers'>
  /** Reads the line that the note is about. Only mails that somebody gets need it. */
  readonly lines?: () => Promise<string | null>
}

/** The mail about a new note; null when the note or its target no longer exists. */
export async function noteNotice(told: Published<'note.created'>): Promise<Notice<'note'> | null> {
  const note = await findToldNote(told.event.noteId)
  if (!note) return null
  const [project, subject] = await Promise.all([readProject(note.project_id), subjectOf(note, told.event.confidential)])
  if (!project || !subject) return null
  return notice(told.id, project, { id: note.id, text: note.note, authorId: note.author_id }, subject)
}

/** The mail about users whom an edit of a note newly mentions; null when there are none. */
export async function editNotice(told: Published<'note.edited'>): Promise<Notice<'note'> | null> {
  const { noteId, by, named } = told.event
  if (!named || by === undefined) return null
  const note = await findToldNote(noteId)
  const project = note && (await readProject(note.project_id))
  const subject = project && (await subjectOf(note, false))
  if (!subject) return null
  const written = { id: note.id, text: note.note, authorId: by, verb: 'mentioned you in a note', mentions: named }
  return { ...(await notice(told.id, project, written, subject)), event: 'mentioned' }
}

/** The mail about a new comment on a commit. */
export async function commentNotice(told: Published<'commit.commented'>): Promise<Notice<'note'> | null> {
  const comment = await findCommitComment(told.event.commentId)
  const project = comment && (await readProject(comment.project_id))
  if (!project) return null
  const { id, note, author_id: authorId, sha } = comment
  const commit = await readCommit(repositoryPath(project), sha)
  const people = [commit?.authorEmail ?? '', commit?.committerEmail ?? '']
  return notice(
    told.id,
    project,
    { id, text: note, authorId },
    {
      concerned: {
        writers: {
          sql: `select author_id as user_id from notes where project_id = ? and commit_id = ? and not is_system
          union select id from users where email_key in (lower(?), lower(?)) and email_confirmed_at is not null
          union select user_id from emails where email_key in (lower(?), lower(?)) and confirmed_at is not null`,
          values: [project.id, sha, ...people, ...people]
        },
        named: [],
        isReadable: (of, actor) => may(actor, 'commit.read', of)
      },
      thread: `commit_${project.id}_${sha}`,
      page: `commit/${sha}`,
      words: 'the commit',
      shown: {
        reference: sha.slice(0, 8),
        title: commit?.message.split('\n', 1)[0] ?? '',
        place: placeOf(comment),
        answers: { type: 'Commit', id }
      },
      lines: () => commentedLines(project, comment)
    }
  )
}

/** Not specified: how a mail names the line of a comment. */
function placeOf({
  path,
  line,
  line_type: side
}: Pick<CommitCommentRow, 'path' | 'line' | 'line_type'>): string | null {
  if (path === null || line === null) return null
  return oneLine(`${path}, line ${line}${side === 'old' ? ' (removed)' : ''}`, LONGEST_PLACE)
}

async function commentedLines(project: ProjectRow, { sha, path, line, line_type }: CommitCommentRow) {
  if (path === null || line === null) return null
  const { patches } = await readDiff(project, sha).catch(error => {
    // The commit is gone, or has too many changes to read.
    if (error instanceof GitLimit || error instanceof DamagedRepository) return { patches: [] }
    throw error
  })
  const patch = patches.find(({ newPath }) => newPath === path)
  return patch ? linesTo(patch.text, line_type === 'old' ? 'old' : 'new', line) : null
}

interface Written {
  readonly id: number
  readonly text: string
  readonly authorId: number
  readonly verb?: string
  /** By default those of the text. */
  readonly mentions?: readonly string[]
}

async function notice(key: string, project: ProjectRow, written: Written, subject: Subject): Promise<Notice<'note'>> {
  const { id, text, authorId, verb = 'wrote', mentions = await mentionsOf(text) } = written
  const { concerned, thread, page, words, shown, lines } = subject
  return {
    event: 'new_note',
    once: `${key} note`,
    actorId: authorId,
    concerned: { ...concerned, project, mentions },
    mail: { kind: 'note', thread },
    facts: async () => {
      const names = await readNames([authorId])
      return {
        ...shown,
        lines: lines ? await lines() : null,
        project: pathOf(project),
        url: urlOf(project, `${page}#note_${id}`),
        author: names.short(authorId),
        happened: `${names.full(authorId)} ${verb} about ${words}`,
        text
      }
    }
  }
}

async function subjectOf(note: NoteRow, wasConfidential: boolean): Promise<Subject | undefined> {
  const { noteable_type: type, noteable_id: id } = note
  if (id === null || type === 'Commit') return undefined
  return type === 'Issue'
    ? ofIssue(id, wasConfidential)
    : type === 'MergeRequest'
      ? ofMergeRequest(id, note)
      : ofSnippet(id)
}

async function ofIssue(id: number, wasConfidential: boolean): Promise<Subject | undefined> {
  const found = await findToldIssue(id)
  return (
    found && {
      concerned: {
        target: { type: 'Issue', id },
        named: [
          ['author', found.author_id],
          ['assignee', found.assignee_id]
        ],
        isReadable: issueReadable({ ...found, confidential: wasConfidential || found.confidential === 1 })
      },
      thread: `issue_${id}`,
      page: `issues/${found.iid}`,
      words: 'the issue',
      shown: { reference: `#${found.iid}`, title: found.title, place: null, answers: { type: 'Issue', id } }
    }
  )
}

async function ofMergeRequest(id: number, note: NoteRow): Promise<Subject | undefined> {
  const found = await findMergeRequest(id)
  return (
    found && {
      concerned: {
        target: { type: 'MergeRequest', id },
        named: [
          ['author', found.author_id],
          ['assignee', found.assignee_id]
        ],
        isReadable: mergeRequestReadable
      },
      thread: `merge_request_${id}`,
      page: `merge_requests/${found.iid}`,
      words: 'the merge request',
      shown: {
        reference: `!${found.iid}`,
        title: found.title,
        place: placeOf(note),
        answers: { type: 'MergeRequest', id }
      },
      ...(note.path !== null && { lines: () => linesOf(note) })
    }
  )
}

async function linesOf(note: NoteRow): Promise<string | null> {
  const project = await readProject(note.project_id)
  return project ? notedLines(project, note) : null
}

async function ofSnippet(id: number): Promise<Subject | undefined> {
  const found = await findSnippet(id)
  return (
    found && {
      concerned: {
        writers: {
          sql: `select author_id as user_id from notes where noteable_type = 'Snippet' and noteable_id = ? and not is_system`,
          values: [id]
        },
        named: [['author', found.author_id]],
        isReadable: (project, actor) =>
          may(actor, 'snippet.read', project) && seenLevels(project, actor).includes(found.visibility_level)
      },
      thread: `snippet_${id}`,
      page: `snippets/${id}`,
      words: 'the snippet',
      shown: { reference: `$${id}`, title: found.title, place: null, answers: { type: 'Snippet', id } }
    }
  )
}
