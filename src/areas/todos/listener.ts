// What jobs do about to-dos: the members of groups that a text mentions, and memberships that have ended.
import { actorOf } from '../../access/actor.js'
import { ACTOR_USER, type ActorUserColumns, actorUserOf } from '../../access/actor-user.js'
import { row } from '../../db/sql.js'
import { mentionsOf } from '../../text/mentions.js'
import type { Told, ToldOf } from '../activity/happenings.js'
import type { Listener } from '../activity/listeners.js'
import { findToldNote } from '../discussion/notes.queries.js'
import { mentionedIn, targetOf } from './at-once.js'
import { mentionMembers } from './mentions.js'
import { removeUnreadable } from './todos.queries.js'

type Changed = ToldOf<'issue.changed'> | ToldOf<'merge_request.changed'>

async function onChange(told: Changed): Promise<void> {
  if (told.happening.kind === 'issue.changed' && told.happening.plain) return
  const { action, by, changes = {} } = told.happening
  // An edit calls those alone whom it adds.
  if (by === null || (action !== 'open' && changes.named === undefined)) return
  const target =
    told.happening.kind === 'issue.changed'
      ? ({ type: 'Issue', id: told.happening.issue.id, projectId: told.happening.issue.project_id } as const)
      : ({
          type: 'MergeRequest',
          id: told.happening.mergeRequest.id,
          projectId: told.happening.mergeRequest.target_project_id
        } as const)
  const names = changes.named ?? (await mentionedIn(target))
  await mentionMembers({ target, authorId: by, names, cause: told.id }, new Date(told.at))
}

async function onNote(told: Told, noteId: number, added?: readonly string[]): Promise<void> {
  const note = await findToldNote(noteId)
  if (!note) return
  const { project_id: projectId, author_id: authorId, note: text, noteable_type: type, noteable_id: id } = note
  const on = note.commit_id === null ? { type, id } : { type, id, commitId: note.commit_id }
  const target = targetOf({ projectId, authorId, noteId, text, target: on })
  const names = added ?? mentionsOf(text)
  if (target) await mentionMembers({ target, authorId, names, noteId, cause: told.id }, new Date(told.at))
}

/** Lists hide at once what the user may not read any more. It is removed, so that a later membership does not bring it back. */
async function onRemoval({ happening: { member } }: ToldOf<'member.removed'>): Promise<void> {
  // Those of a project went at once.
  if (member.source.type === 'project') return
  const user = await row<ActorUserColumns>(`select ${ACTOR_USER} from users u where u.id = ?`, [member.user.id])
  if (user) await removeUnreadable(actorOf(actorUserOf(user), 'private'), member.source)
}

export const todoListener: Listener = {
  name: 'to-dos',
  on: {
    'issue.changed': onChange,
    'merge_request.changed': onChange,
    'note.created': async told => (told.happening.plain ? undefined : onNote(told, told.happening.noteId)),
    'note.edited': told => onNote(told, told.happening.noteId, told.happening.named ?? []),
    'commit.commented': told => onNote(told, told.happening.commentId),
    'member.removed': onRemoval
  }
}
