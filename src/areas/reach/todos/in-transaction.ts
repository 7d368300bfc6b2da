// Adds to-dos and marks them as done ("Todos" in the completions), in the transaction of the change, so that a list after a
// response shows it. Only to-dos of the acting user are marked as done.
import { execute, row } from '../../../db/connect/sql.js'
import { mentionsOf, type RecordTexts, textOf } from '../../../text/mentions.js'
import type { Heard, TransactionListener, WrittenText } from '../../ground/activity/events.js'
import { noteFailuresOf } from './failed-builds.js'
import { forgetLists } from './list-cache.js'
import { mentionPeople } from './mentions.js'
import { addTodos, finishAllTodosOn, finishTodosOn, removeTodosIn, type TodoTarget } from './todos.js'

/** Edits that mark to-dos as done. Changes of a due date or of time do not. */
const EDITS = ['title', 'description', 'assignee_id', 'milestone_id', 'labels', 'target_branch'] as const

type Changes = { readonly [Name in (typeof EDITS)[number]]?: unknown } & { readonly named?: readonly string[] }

interface Change {
  readonly target: Exclude<TodoTarget, { type: 'Commit' }>
  readonly action: string
  readonly by: number | null
  readonly changes: Changes
  readonly assigneeId: number | null
  readonly cause: string
  readonly texts?: RecordTexts | undefined
}

async function onChange({ target, action, by, changes, assigneeId, cause, texts }: Change): Promise<void> {
  // A command has no user.
  if (by === null) return
  const isEdit = EDITS.some(name => changes[name] !== undefined)
  if (action === 'close' || action === 'merge' || isEdit) await finishTodosOn(target, by)
  const isNew = action === 'open'
  if (assigneeId !== null && (isNew || changes.assignee_id !== undefined)) {
    await addTodos({ userIds: [assigneeId], authorId: by, target, action: 'assigned', cause })
  }
  // An edit only mentions users and groups that it adds.
  const ofNew = () => (texts ? mentionsOf(textOf(texts)) : mentionedIn(target))
  const names = isNew ? await ofNew() : (changes.named ?? [])
  await mentionPeople({ target, authorId: by, names, cause })
}

const TEXTS = { Issue: 'issues', MergeRequest: 'merge_requests' } as const

/** Returns whom an issue or merge request mentions. */
export async function mentionedIn({ type, id }: Change['target']): Promise<readonly string[]> {
  const found = await row<RecordTexts>(`select title, description from ${TEXTS[type]} where id = ?`, [id])
  return found ? mentionsOf(textOf(found)) : []
}

/** The target of a note; undefined for a snippet, which causes no to-dos. */
export function targetOf({ projectId, target: { type, id, commitId } }: WrittenText): TodoTarget | undefined {
  if (type === 'Commit') return commitId === undefined ? undefined : { type, commitId, projectId }
  return id !== null && (type === 'Issue' || type === 'MergeRequest') ? { type, id, projectId } : undefined
}

async function onNote(heard: readonly Pick<Heard<'note.created'>, 'id' | 'text'>[]): Promise<void> {
  const written = heard.flatMap(({ id: cause, text }) => {
    const target = targetOf(text)
    return target ? [{ ...text, target, cause }] : []
  })
  await finishAllTodosOn(written.map(({ target, authorId: userId }) => ({ target, userId })))
  for (const { target, cause, authorId, noteId, text } of written) {
    await mentionPeople({ target, authorId, names: await mentionsOf(text), noteId, cause })
  }
}

async function onEdit(heard: readonly Heard<'note.edited'>[]): Promise<void> {
  for (const { id: cause, text: written, event } of heard) {
    const target = targetOf(written)
    const { authorId, noteId } = written
    if (target) await mentionPeople({ target, authorId, names: event.named ?? [], noteId, cause })
  }
}

export const todoChanges: TransactionListener = {
  'issue.changed': async heard => {
    for (const { id: cause, event, texts } of heard) {
      const { issue, action, by, changes = {} } = event
      const target = { type: 'Issue', id: issue.id, projectId: issue.project_id } as const
      if (issue.confidential || changes.confidential !== undefined) forgetLists()
      await onChange({ target, action, by, changes, assigneeId: issue.assignee_id, cause, texts })
    }
  },
  'merge_request.changed': async heard => {
    for (const { id: cause, event } of heard) {
      const { mergeRequest, action, by, changes, oldrev } = event
      const target = {
        type: 'MergeRequest',
        id: mergeRequest.id,
        projectId: mergeRequest.target_project_id
      } as const
      await onChange({ target, action, by, changes: changes ?? {}, assigneeId: mergeRequest.assignee_id, cause })
      if (action === 'update' && (!changes || oldrev !== undefined)) await noteFailuresOf(mergeRequest)
    }
  },
  'note.created': onNote,
  'note.edited': onEdit,
  'commit.commented': onNote,
  'emoji.noted': async heard => {
    for (const { event } of heard) {
      const { target, by } = event
      if (target.type === 'Snippet') continue
      await finishTodosOn({ type: target.type as 'Issue', id: target.id, projectId: 0 }, by)
    }
  },
  // "Members, groups, namespaces": all to-dos of the project are deleted, whatever the user may still read there. For a group, a
  // job looks for to-dos that the user can no longer read.
  'member.removed': async heard => {
    for (const { event } of heard) {
      const { source, user } = event.member
      if (source.type === 'project') await removeTodosIn(source.id, user.id)
    }
  },
  // The row stays, but its to-dos are deleted.
  'merge_request.deleted': async heard => {
    for (const { event } of heard) {
      await execute("delete from todos where target_type = 'MergeRequest' and target_id = ?", [event.id])
    }
  }
}
