// To-dos: what waits for a user. Each write of one goes through this file. A user has at most one pending to-do for each
// target: while it is pending, whatever else asks for the user is left out.
import { execute, marks, padded, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { NotFound, NotModified } from '../../../errors.js'
import { batches } from '../../../lib/batches.js'
import { TARGET_TABLES } from '../../planning/participation/targets.js'

export type TodoAction = 'assigned' | 'mentioned' | 'build_failed' | 'marked'

/** What a to-do is about. */
export type TodoTarget =
  | { readonly type: 'Issue' | 'MergeRequest'; readonly id: number; readonly projectId: number }
  | { readonly type: 'Commit'; readonly commitId: string; readonly projectId: number }

export interface NewTodos {
  /** For the users of this list. */
  readonly userIds: readonly number[]
  readonly authorId: number
  readonly target: TodoTarget
  readonly action: TodoAction
  /** The note that asks for them. */
  readonly noteId?: number
  /** The id of the event that jobs hear of too: each user gets one to-do of it, also when that is done and a job runs again. */
  readonly cause?: string
}

const AT_ONCE = 500

/** Adds to-dos, but for those who have a pending one for the target. Returns how many. Call it inside `transact`. */
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

/** The condition that a to-do is pending and about this: a range of one row of the unique key, with the user before it. */
const pendingOf = (target: TodoTarget) =>
  target.type === 'Commit'
    ? { sql: 'project_id = ? and commit_id = ? and is_pending = true', values: [target.projectId, target.commitId] }
    : { sql: 'target_type = ? and target_id = ? and is_pending = true', values: [target.type, target.id] }

/** A target, and a user who has dealt with it. */
export interface Finished {
  readonly target: TodoTarget
  readonly userId: number
}

/** Makes what a user has to do about a target done. */
export const finishTodosOn = (target: TodoTarget, userId: number): Promise<void> =>
  finishAllTodosOn([{ target, userId }])

/** The same for several: the database looks for each in the unique key, and reads nothing else. */
export async function finishAllTodosOn(all: readonly Finished[]): Promise<void> {
  const some = padded(all).map(({ target, userId }) => ({ userId, ...pendingOf(target) }))
  if (some.length === 0) return
  await execute(
    `update todos set state = 'done', updated_at = ? where ${some.map(({ sql }) => `(user_id = ? and ${sql})`).join(' or ')}`,
    [new Date(), ...some.flatMap(({ userId, values }) => [userId, ...values])]
  )
}

/** Removes all to-dos of a user in a project. */
export async function removeTodosIn(projectId: number, userId: number): Promise<void> {
  await execute('delete from todos where project_id = ? and user_id = ?', [projectId, userId])
}

/** Whether a user has something to do about a target. */
export async function hasTodoOn(target: TodoTarget, userId: number): Promise<boolean> {
  const { sql, values } = pendingOf(target)
  return (await row(`select id from todos where user_id = ? and ${sql}`, [userId, ...values])) !== undefined
}

/** Makes those of the to-dos done that are pending. Returns how many. */
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
 * Adds a to-do about something for the user who asks for it. Returns its id. Throws NotModified while there is a pending one,
 * and NotFound when the target has just gone.
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

/** Keeps a target from being deleted until the transaction ends. Throws NotFound when it is gone. */
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
