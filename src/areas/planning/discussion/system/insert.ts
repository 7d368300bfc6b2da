// Automatic notes. A listener may run twice, so that each has a key that is there once.
import { execute } from '../../../../db/connect/sql.js'
import { TARGET_TABLES } from '../../participation/targets.js'
import type { NoteableType } from '../noteables.js'

/** An issue or merge request that gets automatic notes. */
export interface SystemTarget {
  readonly type: Exclude<NoteableType, 'Snippet'>
  readonly id: number
  /** The project that it is found in. */
  readonly projectId: number
}

export interface SystemNote {
  readonly target: SystemTarget
  readonly authorId: number
  readonly text: string
  readonly at: Date
  /** Unique to the note. */
  readonly once: string
  /** What a note about a mention refers to: only those who may read that see the note. */
  readonly refers?: {
    readonly type: 'Issue' | 'MergeRequest' | 'Snippet' | 'Commit'
    readonly id: number | null
    readonly projectId: number
  }
}

/** Writes a note, unless it is there already, or its target or author is gone. */
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
    ]
  )
}
