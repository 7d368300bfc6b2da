// Writes automatic notes about changes of issues and merge requests, and reads the texts that users wrote.
import { row } from '../../../../db/connect/sql.js'
import { type RecordTexts, textOf } from '../../../../text/mentions.js'
import { pushedMessages } from '../../../code/refs/pushed-commits.js'
import { findSettledChange } from '../../../code/refs/ref-changes.queries.js'
import type { Published, PublishedEvent } from '../../../ground/activity/events.js'
import type { Listener } from '../../../ground/activity/listeners.js'
import { type PushedCommits, readPushed } from '../../merge-requests/versions/pushed.js'
import { TARGET_TABLES } from '../../participation/targets.js'
import { findToldNote } from '../notes.queries.js'
import { type Changes, textsOf } from './changes.js'
import { addSystemNote, type SystemTarget } from './insert.js'
import { readCommits, readText, type Source } from './references.js'

const STATES: { readonly [action: string]: string } = {
  close: 'Status changed to closed',
  reopen: 'Status changed to reopened',
  merge: 'Status changed to merged'
}

interface Happened {
  readonly told: PublishedEvent
  readonly target: SystemTarget
  readonly action: string
  readonly by: number
  readonly changes: Changes
  /** Notes of merge requests only. */
  readonly more?: readonly (readonly [key: string, text: string])[]
}

async function writeNotes({ told, target, action, by, changes, more = [] }: Happened): Promise<void> {
  const state = STATES[action]
  const texts = [...(state === undefined ? [] : [['state', state] as const]), ...(await textsOf(changes)), ...more]
  for (const [key, text] of texts) {
    await addSystemNote({ target, authorId: by, text, at: new Date(told.at), once: `${told.id} ${key}` })
  }
}

/** Whether an event brought new texts. */
const hasNewText = (action: string, { title, description }: Changes) =>
  action === 'open' || title !== undefined || description !== undefined

async function onIssue(told: Published<'issue.changed'>): Promise<void> {
  const { issue, action, by, changes = {}, moved, plain = false } = told.event
  // Not specified: the author of the note when a command changes the issue. A note needs an author, so nothing is written.
  if (by === null) return
  const target = { type: 'Issue', id: issue.id, projectId: issue.project_id } as const
  const source = { type: 'Issue', id: issue.id, name: String(issue.iid), projectId: issue.project_id } as const
  if (moved) return noteMove(told, target, { by, moved, isNew: action === 'open' })
  await writeNotes({ told, target, action, by, changes })
  if (plain || !hasNewText(action, changes)) return
  const found = await row<RecordTexts>('select title, description from issues where id = ?', [issue.id])
  await readTexts(told, found, source, by)
}

async function onMergeRequest(told: Published<'merge_request.changed'>): Promise<void> {
  const { mergeRequest, action, by, changes = {} } = told.event
  if (by === null) return
  const { id, iid, target_project_id: projectId } = mergeRequest
  const more = await storyOf(told)
  await writeNotes({ told, target: { type: 'MergeRequest', id, projectId }, action, by, changes, more })
  if (!hasNewText(action, changes)) return
  const found = await row<RecordTexts>('select title, description from merge_requests where id = ?', [id])
  await readTexts(told, found, { type: 'MergeRequest', id, name: String(iid), projectId }, by)
}

/** The texts about pushed commits and about the automatic merge. */
async function storyOf({ event }: Published<'merge_request.changed'>): Promise<[key: string, text: string][]> {
  const { mergeRequest, oldrev, changes: { automatic_merge: waits } = {} } = event
  const pushed = oldrev === undefined ? null : await readPushed(mergeRequest, oldrev)
  return [
    ...(pushed ? [['commits', listed(pushed)] as [string, string]] : []),
    ...(waits === undefined ? [] : [['automatic_merge', mergeText(waits, mergeRequest.head_sha)] as [string, string]])
  ]
}

function listed({ summary, lines }: PushedCommits): string {
  const text = summary.charAt(0).toUpperCase() + summary.slice(1)
  return lines.length === 0 ? text : `${text}:\n\n${lines.map(line => `* ${line}`).join('\n')}`
}

const mergeText = (waits: boolean, head: string | null) =>
  waits
    ? `Enabled an automatic merge when the build for ${(head ?? '').slice(0, 8)} succeeds`
    : 'Canceled the automatic merge'

async function readTexts(
  told: PublishedEvent,
  found: RecordTexts | undefined,
  source: Source,
  authorId: number
): Promise<void> {
  if (!found) return
  await readText({ text: textOf(found), authorId, source, at: new Date(told.at) })
}

interface Move {
  readonly by: number
  readonly moved: { readonly from: number; readonly to: number }
  readonly isNew: boolean
}

/** Writes a note with the place of the other issue of a move. Both issues get such a note. */
async function noteMove(told: PublishedEvent, target: SystemTarget, { by, moved, isNew }: Move): Promise<void> {
  const otherId = isNew ? moved.from : moved.to
  const other = await row<{ iid: number; project_id: number; path: string }>(
    `select i.iid, i.project_id, concat(n.path, '/', p.path) as path from issues i join projects p on p.id = i.project_id
     join namespaces n on n.id = p.namespace_id where i.id = ?`,
    [otherId]
  )
  if (!other) return
  await addSystemNote({
    target,
    authorId: by,
    text: `Moved ${isNew ? 'from' : 'to'} ${other.path}#${other.iid}`,
    at: new Date(told.at),
    once: `${told.id} move`,
    refers: { type: 'Issue', id: otherId, projectId: other.project_id }
  })
}

async function onNote(told: Published<'note.created'> | Published<'note.edited'>): Promise<void> {
  if (told.event.kind === 'note.created' && told.event.plain) return
  const note = await findToldNote(told.event.noteId)
  if (!note || note.noteable_id === null || note.noteable_type === 'Commit') return
  const { noteable_type: type, noteable_id: id, project_id: projectId } = note
  const numbered =
    type === 'Snippet'
      ? { iid: id }
      : await row<{ iid: number }>(`select iid from ${TARGET_TABLES[type]} where id = ?`, [id])
  if (!numbered) return
  const source = { type, id, name: String(numbered.iid), projectId }
  await readText({ text: note.note, authorId: note.author_id, source, at: new Date(told.at) })
}

async function onPush({ event, at }: Published<'ref.changed'>): Promise<void> {
  const change = await findSettledChange(event.refChangeId)
  if (!change || change.user_id === null) return
  const { user_id: authorId, project_id: projectId } = change
  await readCommits(await pushedMessages(change), { authorId, projectId, at: new Date(at) })
}

export const systemNotes: Listener = {
  name: 'discussion',
  on: {
    'issue.changed': onIssue,
    'merge_request.changed': onMergeRequest,
    'note.created': onNote,
    'note.edited': onNote,
    'ref.changed': onPush
  }
}
