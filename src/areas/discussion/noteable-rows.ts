// The rows that notes are about, as far as notes change them.
import { moved } from '../../db/places.js'
import { execute, row } from '../../db/sql.js'
import { NotFound } from '../../errors.js'
import type { Noteable, NoteableType } from './noteables.js'

const TABLES: { readonly [Type in NoteableType]: string } = {
  Issue: 'issues',
  MergeRequest: 'merge_requests',
  Snippet: 'snippets'
}

/**
 * Who writes about an issue or merge request takes part in it, and it counts as changed. Call it at the end of the transaction:
 * writers at the same time wait for each other from here on. Throws NotFound when it is gone.
 */
export async function touchNoteable({ type, id }: Pick<Noteable, 'type' | 'id'>, userId: number): Promise<void> {
  if (type !== 'Snippet') {
    await addParticipants({ type, id }, [userId])
    const { affectedRows } = await execute(
      `update ${TABLES[type]} set updated_at = greatest(updated_at, ?) where id = ?`,
      [new Date(), id]
    )
    moved(type)
    // A row that stays as it was is not counted.
    if (affectedRows > 0) return
  }
  // What is deleted at this moment takes no more notes.
  if (!(await row(`select id from ${TABLES[type]} where id = ? lock in share mode`, [id]))) throw new NotFound('Note')
}

export async function addParticipants(
  { type, id }: Pick<Noteable, 'type' | 'id'>,
  userIds: readonly number[]
): Promise<void> {
  for (let at = 0; at < userIds.length; at += 500) {
    const some = userIds.slice(at, at + 500)
    await execute(
      `insert ignore into participants (target_type, target_id, user_id) values ${some.map(() => '(?, ?, ?)').join(', ')}`,
      some.flatMap(userId => [type, id, userId])
    )
  }
}
