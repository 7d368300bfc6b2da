// Subscriptions: users say that they want to hear of an issue, a merge request or a label, or that they do not. Without a
// word of theirs, participants are subscribed to issues and merge requests.
import { execute, marks, padded, row, rows } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { NotModified } from '../../errors.js'
import { readParticipation } from './readings.js'
import type { TargetType } from './targets.js'

/** A label of a group has subscriptions for each project. */
export interface Subscribable {
  readonly type: TargetType | 'Label'
  readonly id: number
  readonly projectId: number
}

interface Spoken {
  readonly target_id: number
  readonly subscribed: number
}

/** Returns what a user has said of these targets of a kind, by their ids; of labels, in this project. */
export async function readSubscriptions(
  type: Subscribable['type'],
  ids: readonly number[],
  userId: number,
  projectId?: number
): Promise<ReadonlyMap<number, boolean>> {
  if (ids.length === 0) return new Map()
  const list = padded(ids)
  const within = projectId === undefined ? '' : ' and project_id = ?'
  const found = await rows<Spoken>(
    `select target_id, subscribed from subscriptions
     where target_type = ? and target_id in (${marks(list)}) and user_id = ?${within}`,
    [type, ...list, userId, ...(projectId === undefined ? [] : [projectId])]
  )
  return new Map(found.map(({ target_id: id, subscribed }) => [id, subscribed === 1]))
}

/** The users whom the row of an issue or merge request names. */
export interface Involved {
  readonly id: number
  readonly author_id: number | null
  readonly assignee_id: number | null
}

/**
 * Returns those of the targets to which a user is subscribed, by word or by taking part. Two statements for any number; one
 * less where the caller has read already what the user said (`known`).
 */
export async function readSubscribed(
  type: TargetType,
  targets: readonly Involved[],
  userId: number,
  known?: ReadonlyMap<number, boolean>
): Promise<ReadonlySet<number>> {
  const ids = targets.map(({ id }) => id)
  const [spoken, taking] = await Promise.all([
    known ?? readSubscriptions(type, ids, userId),
    readParticipation(type, ids, userId)
  ])
  const takesPart = ({ id, author_id: author, assignee_id: assignee }: Involved) =>
    author === userId || assignee === userId || taking.has(id)
  return new Set(targets.filter(target => spoken.get(target.id) ?? takesPart(target)).map(({ id }) => id))
}

/**
 * Subscribes a user to a target, or ends that. Decided: taking part counts, so that an author can unsubscribe. Throws
 * NotModified when nothing changes.
 */
export async function changeSubscription(
  type: TargetType,
  target: Involved & { readonly project_id: number },
  userId: number,
  subscribed: boolean
): Promise<void> {
  const now = await readSubscribed(type, [target], userId)
  if (now.has(target.id) === subscribed) throw new NotModified()
  await setSubscription({ type, id: target.id, projectId: target.project_id }, userId, subscribed)
}

/** Writes down what a user says of a target, whatever was said before. */
export async function setSubscription(
  { type, id, projectId }: Subscribable,
  userId: number,
  subscribed: boolean
): Promise<void> {
  const now = new Date()
  await transact(async () => {
    // The user may be deleted at this moment.
    if (!(await row('select id from users where id = ? lock in share mode', [userId]))) return
    await execute(
      `insert into subscriptions (target_type, target_id, project_id, user_id, subscribed, created_at, updated_at)
       values (?, ?, ?, ?, ?, ?, ?) on duplicate key update subscribed = ?, updated_at = ?`,
      [type, id, projectId, userId, subscribed, now, now, subscribed, now]
    )
  })
}
