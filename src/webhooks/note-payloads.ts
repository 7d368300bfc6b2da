// Makes the payloads for notes.
import {
  commit,
  dateTime,
  fullProject,
  type PayloadCommit,
  type PayloadProject,
  type PayloadUser,
  repository,
  user
} from './payloads.js'

interface PayloadNote {
  readonly id: number
  readonly note: string
  readonly author: PayloadUser
  readonly createdAt: Date
  readonly project: PayloadProject
}

export interface PayloadCommitNote extends PayloadNote {
  readonly commit: PayloadCommit
  /** Names the line that the note is about; null for a note about the whole commit. */
  readonly lineCode: string | null
}

/** The payload for a note about a commit. */
export function commitNotePayload(note: PayloadCommitNote) {
  const about = { noteable_type: 'Commit', noteable_id: null, commit_id: note.commit.id, line_code: note.lineCode }
  return {
    ...notePayload(note, { ...about, url: `${note.commit.url}#note_${note.id}` }),
    commit: commit(note.commit)
  }
}

export interface PayloadRecordNote extends PayloadNote {
  readonly updatedAt: Date
  readonly updatedById: number | null
  readonly noteableType: string
  readonly noteableId: number
  /** The page of the note. */
  readonly url: string
  /** The record that the note is about, under its name: `{ issue: ... }`. */
  readonly noteable: object
}

/** The payload for a note about an issue, a merge request or a snippet. */
export function recordNotePayload(note: PayloadRecordNote) {
  const about = {
    noteable_type: note.noteableType,
    noteable_id: note.noteableId,
    commit_id: null,
    line_code: null,
    url: note.url,
    updated_at: dateTime(note.updatedAt),
    updated_by_id: note.updatedById
  }
  return { ...notePayload(note, about), ...note.noteable }
}

interface About {
  readonly noteable_type: string
  readonly noteable_id: number | null
  readonly commit_id: string | null
  readonly line_code: string | null
  readonly url: string
  readonly updated_at?: string
  readonly updated_by_id?: number | null
}

const notePayload = (note: PayloadNote, about: About) => ({
  object_kind: 'note',
  user: user(note.author),
  project_id: note.project.id,
  project: fullProject(note.project),
  object_attributes: {
    id: note.id,
    note: note.note,
    noteable_type: about.noteable_type,
    author_id: note.author.id,
    created_at: dateTime(note.createdAt),
    updated_at: about.updated_at ?? dateTime(note.createdAt),
    project_id: note.project.id,
    attachment: null,
    line_code: about.line_code,
    commit_id: about.commit_id,
    noteable_id: about.noteable_id,
    system: false,
    st_diff: null,
    updated_by_id: about.updated_by_id ?? null,
    type: null,
    position: null,
    original_position: null,
    resolved_at: null,
    resolved_by_id: null,
    discussion_id: null,
    url: about.url
  },
  repository: repository(note.project)
})
