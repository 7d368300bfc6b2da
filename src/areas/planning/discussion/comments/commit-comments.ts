// Comments on commits, with their hook events and feed entries.
import { createHash } from 'node:crypto'
import { type Origin, requireAsker } from '../../../../access/actor.js'
import { execute } from '../../../../db/connect/sql.js'
import { transact } from '../../../../db/connect/transact.js'
import { BadParameters, NotFound } from '../../../../errors.js'
import { isChangedLine } from '../../../../git/history/changed-lines.js'
import { DamagedRepository, readCommit } from '../../../../git/objects/objects.js'
import { readAhead } from '../../../../text/mentions.js'
import { beginning } from '../../../../webhooks/body.js'
import { commitNotePayload } from '../../../../webhooks/note-payloads.js'
import { payloadProject } from '../../../code/refs/pushes.js'
import { findCommitOf } from '../../../code/repository/contents.js'
import { type Published, publishWritten } from '../../../ground/activity/events.js'
import type { FeedEntry } from '../../../ground/activity/feed-entry.js'
import type { HookEvent } from '../../../ground/hooks/hook-events.js'
import { holdUser } from '../../../people/users/users.queries.js'
import { holdProject, type ProjectRow } from '../../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../../projects/projects/repositories.js'
import {
  type CommitCommentRow,
  findCommitComment,
  findHookComment,
  type HookCommentRow
} from './commit-comments.queries.js'
import type { CommentBody } from './commit-comments.schema.js'

/** Characters of a note in a payload. */
const NOTE_LIMIT = 100_000

/**
 * Writes a comment. A comment on a line that the commit did not change refers to the whole commit. `also` runs in the transaction
 * that writes it. Throws NotFound.
 */
export async function createCommitComment(
  project: ProjectRow,
  sha: string,
  body: CommentBody,
  origin: Origin,
  also?: () => Promise<void>
): Promise<CommitCommentRow> {
  const { path: about, line, line_type: side = 'new' } = body
  if (about && line === undefined) throw BadParameters.missing('line')
  const commit = await findCommitOf(project, sha)
  const place =
    about && line !== undefined && (await isChangedLine(repositoryPath(project), commit, { path: about, line, side }))
      ? [about, line, side]
      : [null, null, null]
  const author = requireAsker(origin)
  await readAhead(body.note)
  const id = await transact(async () => {
    if (!(await holdProject(project.id))) throw new NotFound('Project')
    await holdUser(author.id)
    const now = new Date()
    const { insertId } = await execute(
      `insert into notes (project_id, noteable_type, commit_id, author_id, note, path, line, line_type, created_at, updated_at)
       values (?, 'Commit', ?, ?, ?, ?, ?, ?, ?, ?)`,
      [project.id, commit, author.id, body.note, ...place, now, now],
      project.id
    )
    const target = { type: 'Commit', id: null, commitId: commit }
    const written = { projectId: project.id, authorId: author.id, target, noteId: insertId, text: body.note }
    await publishWritten([{ event: { kind: 'commit.commented', commentId: insertId }, text: written }])
    await also?.()
    return insertId
  })
  const made = await findCommitComment(id)
  if (!made) throw new NotFound('Commit')
  return made
}

/** Returns the hook event of a comment; null when the comment no longer exists. */
export async function hookEventOfComment({ event }: Published<'commit.commented'>): Promise<HookEvent | null> {
  const comment = await findHookComment(event.commentId)
  return comment ? { project: { id: comment.project_id, event: 'note', payload: () => payloadOf(comment) } } : null
}

/** Returns the feed entry of a comment; null when the comment no longer exists. */
export async function feedEntryOfComment({ event }: Published<'commit.commented'>): Promise<FeedEntry | null> {
  const comment = await findHookComment(event.commentId)
  if (!comment) return null
  const { id, project_id: projectId, author_id: authorId } = comment
  return { projectId, authorId, action: 'commented on', target: { type: 'Note', id, title: null }, noteId: id }
}

async function payloadOf(comment: HookCommentRow) {
  const repository = repositoryPath({ id: comment.project_id, storage: comment.storage })
  const commit = await readCommit(repository, comment.sha)
  if (!commit) throw new DamagedRepository(repository, `the commit ${comment.sha} is missing`)
  const project = payloadProject(comment)
  return commitNotePayload({
    id: comment.id,
    note: beginning(comment.note, NOTE_LIMIT),
    author: {
      id: comment.author_id,
      name: comment.author_name,
      username: comment.author_username,
      email: comment.author_email,
      avatarUrl: null
    },
    createdAt: comment.created_at,
    project,
    commit: {
      id: commit.id,
      message: commit.message,
      timestamp: commit.committedDate,
      url: `${project.webUrl}/commit/${commit.id}`,
      author: { name: commit.authorName, email: commit.authorEmail }
    },
    lineCode: lineCodeOf(comment)
  })
}

/** The hash of the path, the line number before and the number after; an absent number is 0. */
function lineCodeOf({ path, line, line_type: side }: CommitCommentRow): string | null {
  if (path === null || line === null) return null
  const hash = createHash('sha1').update(path).digest('hex')
  return side === 'old' ? `${hash}_${line}_0` : `${hash}_0_${line}`
}
