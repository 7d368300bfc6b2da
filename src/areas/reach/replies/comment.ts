// Writes a reply as a comment, with the rules of the API: what the user may not do there, a reply cannot do either.
import { Readable } from 'node:stream'
import { type Actor, originOf } from '../../../access/actor.js'
import { authorizeProject, may } from '../../../access/authorize.js'
import { row } from '../../../db/connect/sql.js'
import { Failure, NotFound, TooLarge } from '../../../errors.js'
import type { ReplySubject } from '../../../mail/kinds.js'
import type { Attached } from '../../../mail/received/read.js'
import { removeUpload, type UploadKey } from '../../../storage/uploads.js'
import { noteEmoji } from '../../planning/discussion/awards.js'
import { createCommitComment } from '../../planning/discussion/comments/commit-comments.js'
import { findCommitComment } from '../../planning/discussion/comments/commit-comments.queries.js'
import { kindOf } from '../../planning/discussion/kinds/all.js'
import type { Noteable, NoteableType } from '../../planning/discussion/noteables.js'
import { createNoteWithCommands, OnlyCommands } from '../../planning/discussion/notes.js'
import { findProject, type ProjectRow } from '../../projects/projects/projects.queries.js'
import { safeName, storeUpload } from '../../projects/uploads/uploads.js'
import { viewUpload } from '../../projects/uploads/uploads.view.js'

const MOST_ATTACHMENTS = 20

/** Writes a comment with a text. `also` runs in its transaction. */
type Write = (text: string, also: () => Promise<void>) => Promise<unknown>

/**
 * Writes a comment. `also` runs in its transaction, but not when the text is only an emoji or only commands. Throws what the rules
 * of the API throw, such as NotFound when the user may no longer read the record.
 */
export async function comment(
  subject: ReplySubject,
  { text, attachments }: { readonly text: string; readonly attachments: readonly Attached[] },
  actor: Actor,
  also: () => Promise<void>
): Promise<void> {
  const { project, write } = await (subject.type === 'Commit'
    ? onCommit(subject.id, actor)
    : onRecord(subject.type, subject.id, actor))
  const { keys, lines } = await upload(project, attachments, actor)
  try {
    await write([text, ...lines].filter(part => part !== '').join('\n\n'), also)
  } catch (error) {
    for (const key of keys) await removeUpload(key)
    throw error
  }
}

interface Place {
  readonly project: ProjectRow
  readonly write: Write
}

const PROJECTS: { readonly [Type in NoteableType]: string } = {
  Issue: 'select project_id from issues where id = ?',
  MergeRequest: 'select target_project_id as project_id from merge_requests where id = ?',
  Snippet: 'select project_id from snippets where id = ?'
}

async function onRecord(type: NoteableType, id: number, actor: Actor): Promise<Place> {
  const found = await row<{ project_id: number }>(PROJECTS[type], [id])
  const project = await requireProject(found?.project_id, 'note.write', actor)
  const noteable = await kindOf(type)?.find(project, id, actor)
  if (!noteable) throw new NotFound('Note')
  return { project, write: (text, also) => writeNote(project, noteable, { body: text, also }, actor) }
}

/** Commands without a text have been run: that is a success here. */
async function writeNote(
  project: ProjectRow,
  noteable: Noteable,
  note: { readonly body: string; readonly also: () => Promise<void> },
  actor: Actor
): Promise<void> {
  if (await noteEmoji(noteable, note.body, actor)) return
  try {
    await createNoteWithCommands(project, noteable, note, { actor, origin: originOf(actor, null) })
  } catch (error) {
    if (!(error instanceof OnlyCommands)) throw error
  }
}

/** A reply to a comment on a line is a comment on the same line. */
async function onCommit(commentId: number, actor: Actor): Promise<Place> {
  const found = await findCommitComment(commentId)
  const project = await requireProject(found?.project_id, 'commit.comment', actor)
  if (!found) throw new NotFound('Commit')
  const { sha, path, line, line_type: side } = found
  const place =
    path === null || line === null
      ? {}
      : { path, line, line_type: side === 'old' ? ('old' as const) : ('new' as const) }
  return {
    project,
    write: (note, also) => createCommitComment(project, sha, { note, ...place }, originOf(actor, null), also)
  }
}

async function requireProject(
  id: number | undefined,
  action: 'note.write' | 'commit.comment',
  actor: Actor
): Promise<ProjectRow> {
  const project = id === undefined ? undefined : await findProject(id, actor)
  authorizeProject(actor, action, project)
  if (!project) throw new NotFound('Project')
  return project
}

/** Stores the attachments. A line of the comment names each one that cannot be stored. */
async function upload(project: ProjectRow, attachments: readonly Attached[], actor: Actor) {
  const keys: UploadKey[] = []
  const lines: string[] = []
  for (const [at, { name, content }] of attachments.entries()) {
    try {
      if (at >= MOST_ATTACHMENTS) throw new TooLarge(`a mail has at most ${MOST_ATTACHMENTS} attachments`)
      if (!may(actor, 'upload.create', project)) throw new TooLarge('uploads are not allowed')
      const key = await storeUpload(project, { name, stream: Readable.from([content]) })
      keys.push(key)
      lines.push(viewUpload(key).markdown)
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error
      lines.push(`Not attached: \`${nameFor(name)}\` (${error.message.replace(/^.* - /, '')})`)
      // Not specified: names of more attachments than one comment may have.
      if (at >= MOST_ATTACHMENTS) break
    }
  }
  return { keys, lines }
}

function nameFor(name: string): string {
  try {
    return safeName(name)
  } catch (error) {
    if (error instanceof Failure) return '_'
    throw error
  }
}
