// Jobs of to-dos: they handle the members of groups that a text mentions, and memberships that have ended.
import { actorOf } from '../../../access/actor.js'
import { ACTOR_USER, type ActorUserColumns, actorUserOf } from '../../../access/actor-user.js'
import { row } from '../../../db/connect/sql.js'
import { mentionsOf } from '../../../text/mentions.js'
import type { Published, PublishedEvent } from '../../ground/activity/events.js'
import type { Listener } from '../../ground/activity/listeners.js'
import { findToldNote } from '../../planning/discussion/notes.queries.js'
import { mentionedIn, targetOf } from './in-transaction.js'
import { mentionMembers } from './mentions.js'
import { removeUnreadable } from './todos.queries.js'

type Changed = Published<'issue.changed'> | Published<'merge_request.changed'>

async function onChange(told: Changed): Promise<void> {
  if (told.event.kind === 'issue.changed' && told.event.plain) return
  const { action, by, changes = {} } = told.event
  // An edit only mentions users and groups that it adds.
  if (by === null || (action !== 'open' && changes.named === undefined)) return
  const target =
    told.event.kind === 'issue.changed'
      ? ({ type: 'Issue', id: told.event.issue.id, projectId: told.event.issue.project_id } as const)
      : ({
          type: 'MergeRequest',
          id: told.event.mergeRequest.id,
          projectId: told.event.mergeRequest.target_project_id
        } as const)
  const names = changes.named ?? (await mentionedIn(target))
  await mentionMembers({ target, authorId: by, names, cause: told.id }, new Date(told.at))
}

async function onNote(told: PublishedEvent, noteId: number, added?: readonly string[]): Promise<void> {
  const note = await findToldNote(noteId)
  if (!note) return
  const { project_id: projectId, author_id: authorId, note: text, noteable_type: type, noteable_id: id } = note
  const on = note.commit_id === null ? { type, id } : { type, id, commitId: note.commit_id }
  const target = targetOf({ projectId, authorId, noteId, text, target: on })
  const names = added ?? (await mentionsOf(text))
  if (target) await mentionMembers({ target, authorId, names, noteId, cause: told.id }, new Date(told.at))
}

/**
 * Lists hide to-dos at once when the user may no longer read them. They are deleted too, so that a later membership does not
 * restore them.
 */
async function onRemoval({ event: { member } }: Published<'member.removed'>): Promise<void> {
  // To-dos of a project were deleted at once.
  if (member.source.type === 'project') return
  const user = await row<ActorUserColumns>(`select ${ACTOR_USER} from users u where u.id = ?`, [member.user.id])
  if (user) await removeUnreadable(actorOf(actorUserOf(user), 'private'), member.source)
}

export const todoListener: Listener = {
  name: 'to-dos',
  on: {
    'issue.changed': onChange,
    'merge_request.changed': onChange,
    'note.created': async told => (told.event.plain ? undefined : onNote(told, told.event.noteId)),
    'note.edited': told => onNote(told, told.event.noteId, told.event.named ?? []),
    'commit.commented': told => onNote(told, told.event.commentId),
    'member.removed': onRemoval
  }
}
