// Automatic notes. A listener may run twice, so each note has a unique key.
import { execute } from '../../../../db/connect/sql.js'
import { TARGET_TABLES } from '../../participation/targets.js'
import type { NoteableType } from '../noteables.js'

/** An issue or merge request that gets automatic notes. */
export interface SystemTarget {
  readonly type: Exclude<NoteableType, 'Snippet'>
  readonly id: number
  /** The project that contains it. */
  readonly projectId: number
}

export interface SystemNote {
  readonly target: SystemTarget
  readonly authorId: number
  readonly text: string
  readonly at: Date
  /** The unique key of the note. */
  readonly once: string
  /** The record that a note about a mention refers to: only users who may read that record see the note. */
  readonly refers?: {
    readonly type: 'Issue' | 'MergeRequest' | 'Snippet' | 'Commit'
    readonly id: number | null
    readonly projectId: number
  }
}

/** Writes a note, unless it exists already, or its target or author no longer exists. */
export async function addSystemNote({ target, authorId, text, at, once, refers }: SystemNote): Promise<void> {
  await execute(
    `insert ignore into notes (project_id, noteable_type, noteable_id, author_id, note, is_system, refers_type, refers_id,
       refers_project_id, once, created_at, updated_at)
     select ?, ?, t.id, u.id, ?, true, ?, ?, ?, ?, ?, ? from ${TARGET_TABLES[target.type]} t join users u on u.id = ? where t.id = ?`,
    [
      target.projectId,
      target.type,
      text,
      refers?.type ?? null,
      refers?.id ?? null,
      refers?.projectId ?? null,
      once,
      at,
      at,
      authorId,
      target.id
    ],
    target.projectId
  )
}
