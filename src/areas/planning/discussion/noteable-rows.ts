// Changes the rows of the targets of notes, as far as notes change them.

import { execute, marks, padded, rows } from '../../../db/connect/sql.js'
import { moved } from '../../../db/lists/keyset-cache.js'
import { NotFound } from '../../../errors.js'
import { batches } from '../../../lib/batches.js'
import { TARGET_TABLES, type TargetType } from '../participation/targets.js'
import type { Noteable, NoteableType } from './noteables.js'

const TABLES: { readonly [Type in NoteableType]: string } = {
  ...TARGET_TABLES,
  Snippet: 'snippets'
}

interface Touched extends Pick<Noteable, 'type' | 'id'> {
  /** The author of the note. */
  readonly userId: number
}

/**
 * Marks issues and merge requests as changed, and adds the authors of notes about them to their participants. Call it at the end
 * of the transaction: from here on, concurrent writers wait for each other. `projectId` is the project of all of them, if it is
 * one. Throws NotFound when a target no longer exists.
 */
export async function touchNoteables(touched: readonly Touched[], projectId?: number): Promise<void> {
  for (const type of ['Issue', 'MergeRequest', 'Snippet'] as const) {
    const some = touched.filter(each => each.type === type)
    if (some.length === 0) continue
    // In the order of the ids, so that two users who write about the same targets do not wait for each other.
    const ids = [...new Set(some.map(({ id }) => id))].sort((a, b) => a - b)
    if (type !== 'Snippet') await addParticipations(type, some, projectId)
    // `touch` does not count a row that stays the same.
    if (type !== 'Snippet' && (await touch(type, ids, projectId)) === ids.length) continue
    // A target that is being deleted at this moment accepts no more notes.
    const list = padded(ids)
    const held = await rows(`select id from ${TABLES[type]} where id in (${marks(list)}) lock in share mode`, list)
    if (held.length < ids.length) throw new NotFound('Note')
  }
}

/** Returns the number of rows that changed. */
async function touch(type: TargetType, ids: readonly number[], projectId?: number): Promise<number> {
  const list = padded(ids)
  const { affectedRows } = await execute(
    `update ${TARGET_TABLES[type]} set updated_at = greatest(updated_at, ?) where id in (${marks(list)})`,
    [new Date(), ...list],
    projectId
  )
  moved(type)
  return affectedRows
}

/** Adds participants to issues or merge requests. Call it inside `transact`, or in a job. */
export async function addParticipations(
  type: TargetType,
  all: readonly Omit<Touched, 'type'>[],
  projectId?: number
): Promise<void> {
  const sorted = [...all].sort((a, b) => a.id - b.id || a.userId - b.userId)
  for (const some of batches(sorted, 500)) {
    await execute(
      `insert ignore into participants (target_type, target_id, user_id) values ${some.map(() => '(?, ?, ?)').join(', ')}`,
      some.flatMap(({ id, userId }) => [type, id, userId]),
      projectId
    )
  }
}
