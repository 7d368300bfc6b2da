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

export interface PayloadCommitNote {
  readonly id: number
  readonly note: string
  readonly author: PayloadUser
  readonly createdAt: Date
  readonly project: PayloadProject
  readonly commit: PayloadCommit
  /** Names the line that the note is beside; null for a note about the whole commit. */
  readonly lineCode: string | null
}

/** The payload for a note about a commit. */
export function commitNotePayload(note: PayloadCommitNote) {
  return {
    object_kind: 'note',
    user: user(note.author),
    project_id: note.project.id,
    project: fullProject(note.project),
    object_attributes: {
      id: note.id,
      note: note.note,
      noteable_type: 'Commit',
      author_id: note.author.id,
      created_at: dateTime(note.createdAt),
      updated_at: dateTime(note.createdAt),
      project_id: note.project.id,
      attachment: null,
      line_code: note.lineCode,
      commit_id: note.commit.id,
      noteable_id: null,
      system: false,
      st_diff: null,
      updated_by_id: null,
      type: null,
      position: null,
      original_position: null,
      resolved_at: null,
      resolved_by_id: null,
      discussion_id: null,
      url: `${note.commit.url}#note_${note.id}`
    },
    repository: repository(note.project),
    commit: commit(note.commit)
  }
}
