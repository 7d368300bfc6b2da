// The right to change and delete notes.
import type { Actor } from '../../../access/actor.js'
import { may } from '../../../access/authorize.js'
import { authorizeRecord, mayOnRecord } from '../../../access/records.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import type { Noteable } from './noteables.js'
import { type NoteRow, requireNote } from './notes.queries.js'

/** Returns a note that the caller may change. Throws NotFound or Forbidden. */
export async function requireChangeableNote(
  project: ProjectRow,
  noteable: Noteable,
  id: number,
  actor: Actor
): Promise<NoteRow> {
  const note = await requireNote(noteable, id, actor)
  authorizeRecord(actor, 'note.change', { author: note.author_id, project })
  return note
}

/** Whether the caller may change the text of a note. Automatic notes have no text to change. */
export const mayChangeNote = (
  note: Pick<NoteRow, 'is_system' | 'author_id'>,
  project: ProjectRow,
  actor: Actor
): boolean =>
  note.is_system === 0 &&
  may(actor, 'note.write', project) &&
  mayOnRecord(actor, 'note.change', { author: note.author_id, project })
