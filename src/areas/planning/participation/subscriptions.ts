// Subscriptions: users choose whether they get notifications about an issue, a merge request or a label. Participants
// who made no choice are subscribed to issues and merge requests.
import { execute, marks, padded, row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { NotModified } from '../../../errors.js'
import { readShown } from './readings.js'
import type { TargetType } from './targets.js'

/** The target of a subscription. A label of a group has separate subscriptions for each project. */
export interface Subscribable {
  readonly type: TargetType | 'Label'
  readonly id: number
  readonly projectId: number
}

interface Spoken {
  readonly target_id: number
  readonly subscribed: number
}

/** Returns what a user has chosen for these labels in a project, by their ids. */
export async function readSubscriptions(
  ids: readonly number[],
  userId: number,
  projectId: number
): Promise<ReadonlyMap<number, boolean>> {
  if (ids.length === 0) return new Map()
  const list = padded(ids)
  const found = await rows<Spoken>(
    `select target_id, subscribed from subscriptions
     where target_type = 'Label' and target_id in (${marks(list)}) and user_id = ? and project_id = ?`,
    [...list, userId, projectId]
  )
  return new Map(found.map(({ target_id: id, subscribed }) => [id, subscribed === 1]))
}

/**
 * Subscribes a user to a target, or ends the subscription. Decided: taking part counts, so that an author can
 * unsubscribe. Throws NotModified when nothing changes.
 */
export async function changeSubscription(
  type: TargetType,
  target: { readonly id: number; readonly project_id: number },
  userId: number,
  subscribed: boolean
): Promise<void> {
  const shownOf = await readShown(type, [{ id: target.id }], userId)
  if (shownOf(target).subscribed === subscribed) throw new NotModified()
  const place = { type, id: target.id, projectId: target.project_id }
  // Another request may have made the same choice since.
  if (!(await setSubscription(place, userId, subscribed))) throw new NotModified()
}

/** Stores the choice of a user for a target, and replaces an earlier one. Returns false when the user had already made the same choice. */
export async function setSubscription(
  { type, id, projectId }: Subscribable,
  userId: number,
  subscribed: boolean
): Promise<boolean> {
  const now = new Date()
  return transact(async () => {
    // The user may be deleted at this moment.
    if (!(await row('select id from users where id = ? lock in share mode', [userId]))) return false
    const { affectedRows } = await execute(
      `insert into subscriptions (target_type, target_id, project_id, user_id, subscribed, created_at, updated_at)
       values (?, ?, ?, ?, ?, ?, ?) on duplicate key update updated_at = if(subscribed = ?, updated_at, ?), subscribed = ?`,
      [type, id, projectId, userId, subscribed, now, now, subscribed, now, subscribed],
      projectId
    )
    return affectedRows > 0
  })
}
