// To-dos: targets that need the attention of a user. All writes of to-dos go through this file. A user has at most one pending
// to-do for each target: while it is pending, further causes are ignored.
import { execute, marks, padded, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { NotFound, NotModified } from '../../../errors.js'
import { batches } from '../../../lib/batches.js'
import { TARGET_TABLES } from '../../planning/participation/targets.js'

export type TodoAction = 'assigned' | 'mentioned' | 'build_failed' | 'marked'

/** The target of a to-do. */
export type TodoTarget =
  | { readonly type: 'Issue' | 'MergeRequest'; readonly id: number; readonly projectId: number }
  | { readonly type: 'Commit'; readonly commitId: string; readonly projectId: number }

export interface NewTodos {
  /** The users who get the to-dos. */
  readonly userIds: readonly number[]
  readonly authorId: number
  readonly target: TodoTarget
  readonly action: TodoAction
  /** The note that causes the to-dos. */
  readonly noteId?: number
  /** The id of the event, which jobs get too: each user gets one to-do for it, even when it is done and a job runs again. */
  readonly cause?: string
}

const AT_ONCE = 500

/** Adds to-dos, except for users who have a pending one for the target. Returns how many. Call it inside `transact`. */
export async function addTodos({ userIds, authorId, target, action, noteId, cause }: NewTodos): Promise<number> {
  const now = new Date()
  const [targetId, commitId] = target.type === 'Commit' ? [null, target.commitId] : [target.id, null]
  let added = 0
  // In the order of their ids, so that two texts that mention the same people do not wait for each other.
  for (const some of batches(
    [...new Set(userIds)].sort((a, b) => a - b),
    AT_ONCE
  )) {
    const { affectedRows } = await execute(
      `insert ignore into todos (user_id, author_id, project_id, target_type, target_id, commit_id, note_id, action, cause,
         created_at, updated_at) values ${some.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
      some.flatMap(id => [
        id,
        authorId,
        target.projectId,
        target.type,
        targetId,
        commitId,
        noteId ?? null,
        action,
        cause ?? null,
        now,
        now
      ])
    )
    added += affectedRows
  }
  return added
}

/** The condition that a to-do is pending and about this target: a range of one row of the unique key, which starts with the user. */
const pendingOf = (target: TodoTarget) =>
  target.type === 'Commit'
    ? { sql: 'project_id = ? and commit_id = ? and is_pending = true', values: [target.projectId, target.commitId] }
    : { sql: 'target_type = ? and target_id = ? and is_pending = true', values: [target.type, target.id] }

/** A target, and a user who has dealt with it. */
export interface Finished {
  readonly target: TodoTarget
  readonly userId: number
}

/** Marks the pending to-do of a user about a target as done. */
export const finishTodosOn = (target: TodoTarget, userId: number): Promise<void> =>
  finishAllTodosOn([{ target, userId }])

/** Does the same for several: the database looks up each in the unique key and reads nothing else. */
export async function finishAllTodosOn(all: readonly Finished[]): Promise<void> {
  const some = padded(all).map(({ target, userId }) => ({ userId, ...pendingOf(target) }))
  if (some.length === 0) return
  await execute(
    `update todos set state = 'done', updated_at = ? where ${some.map(({ sql }) => `(user_id = ? and ${sql})`).join(' or ')}`,
    [new Date(), ...some.flatMap(({ userId, values }) => [userId, ...values])]
  )
}

/** Deletes all to-dos of a user in a project. */
export async function removeTodosIn(projectId: number, userId: number): Promise<void> {
  await execute('delete from todos where project_id = ? and user_id = ?', [projectId, userId])
}

/** Whether a user has a pending to-do about a target. */
export async function hasTodoOn(target: TodoTarget, userId: number): Promise<boolean> {
  const { sql, values } = pendingOf(target)
  return (await row(`select id from todos where user_id = ? and ${sql}`, [userId, ...values])) !== undefined
}

/** Marks the pending ones of the given to-dos as done. Returns how many. */
export async function finishTodos(ids: readonly number[]): Promise<number> {
  let done = 0
  for (const some of batches(ids, AT_ONCE)) {
    const { affectedRows } = await execute(
      `update todos set state = 'done', updated_at = ? where state = 'pending' and id in (${marks(some)})`,
      [new Date(), ...some]
    )
    done += affectedRows
  }
  return done
}

/**
 * Adds a to-do about a target for the user who requests it. Returns its id. Throws NotModified while there is a pending one, and
 * NotFound when the target was just deleted.
 */
export async function markTodo(target: Exclude<TodoTarget, { type: 'Commit' }>, userId: number): Promise<number> {
  return transact(async () => {
    await holdTarget(target)
    const now = new Date()
    const { affectedRows, insertId } = await execute(
      `insert ignore into todos (user_id, author_id, project_id, target_type, target_id, action, created_at, updated_at)
       select u.id, u.id, ?, ?, ?, 'marked', ?, ? from users u where u.id = ?`,
      [target.projectId, target.type, target.id, now, now, userId]
    )
    if (affectedRows === 0) throw new NotModified()
    return insertId
  })
}

/** Keeps a target from being deleted until the transaction ends. Throws NotFound when it no longer exists. */
export async function holdTarget(target: TodoTarget): Promise<void> {
  const [sql, values] =
    target.type === 'Commit'
      ? ['select id from projects where id = ?', [target.projectId]]
      : [
          `select id from ${TARGET_TABLES[target.type]} where id = ?${target.type === 'MergeRequest' ? ' and deleted_at is null' : ''}`,
          [target.id]
        ]
  if (!(await row(`${sql} lock in share mode`, values))) throw new NotFound()
}
