// Hook events and feed entries of notes.
import { publicUrl } from '../../../config.js'
import { beginning } from '../../../webhooks/body.js'
import { recordNotePayload } from '../../../webhooks/note-payloads.js'
import { payloadProject } from '../../code/refs/pushes.js'
import type { Published } from '../../ground/activity/events.js'
import type { FeedEntry } from '../../ground/activity/feed-entry.js'
import type { HookEvent } from '../../ground/hooks/hook-events.js'
import { kindOf } from './kinds/all.js'
import { findToldNote, type ToldNoteRow } from './notes.queries.js'

/** The maximum number of characters of a note in a payload. */
const NOTE_LIMIT = 100_000

/** Returns the hook event of a new note; null when the note no longer exists. Confidential notes need a different flag of the hook. */
export async function hookEventOfNote({ event }: Published<'note.created'>): Promise<HookEvent | null> {
  const note = await findToldNote(event.noteId)
  if (!note) return null
  const name = event.confidential ? 'confidential_note' : 'note'
  return { project: { id: note.project_id, event: name, payload: () => payloadOf(note) } }
}

/** Returns the feed entry of a new note; null when the note no longer exists. */
export async function feedEntryOfNote({ event }: Published<'note.created'>): Promise<FeedEntry | null> {
  const note = await findToldNote(event.noteId)
  if (!note || note.noteable_type === 'Commit' || note.noteable_id === null) return null
  const kind = kindOf(note.noteable_type)
  const title = (await kind?.title(note.noteable_id)) ?? null
  const target = { type: 'Note', id: note.id, title }
  return { projectId: note.project_id, authorId: note.author_id, action: 'commented on', target, noteId: note.id }
}

async function payloadOf(note: ToldNoteRow): Promise<object> {
  const { noteable_type: type, noteable_id: id } = note
  const kind = type === 'Commit' ? undefined : kindOf(type)
  const project = payloadProject(note)
  return recordNotePayload({
    id: note.id,
    note: beginning(note.note, NOTE_LIMIT),
    author: {
      id: note.author_id,
      name: note.author_name,
      username: note.author_username,
      email: note.author_email,
      avatarUrl: null
    },
    createdAt: note.created_at,
    updatedAt: note.updated_at,
    updatedById: note.updated_by_id,
    noteableType: type,
    noteableId: id ?? 0,
    project,
    url: `${publicUrl()}/${project.pathWithNamespace}/${await kind?.page(id ?? 0)}#note_${note.id}`,
    noteable: (await kind?.payload(id ?? 0)) ?? {}
  })
}
