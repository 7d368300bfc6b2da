// Stars: users mark projects, and the row of a project counts them.
import type { ActorUser } from '../../../access/actor.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { NotFound, NotModified } from '../../../errors.js'

/** Whether a user has starred a project. */
export const isStarred = async ({ id }: { readonly id: number }, { id: userId }: ActorUser): Promise<boolean> =>
  (await row('select 1 from project_stars where project_id = ? and user_id = ?', [id, userId])) !== undefined

/** Stars a project. Throws NotModified when the user has already starred it. */
export async function starProject({ id }: { readonly id: number }, { id: userId }: ActorUser): Promise<void> {
  await transact(async () => {
    // First, so that the row is locked until the end: two concurrent calls would otherwise wait for each other.
    const counted = await execute('update projects set star_count = star_count + 1 where id = ?', [id])
    if (counted.affectedRows === 0) throw new NotFound('Project')
    const { affectedRows } = await execute(
      'insert ignore into project_stars (project_id, user_id, created_at) values (?, ?, ?)',
      [id, userId, new Date()]
    )
    if (affectedRows === 0) throw new NotModified()
  })
}

/** Removes a star. Throws NotModified when there is none. */
export async function unstarProject({ id }: { readonly id: number }, { id: userId }: ActorUser): Promise<void> {
  await transact(async () => {
    const { affectedRows } = await execute('delete from project_stars where project_id = ? and user_id = ?', [
      id,
      userId
    ])
    if (affectedRows === 0) throw new NotModified()
    await execute('update projects set star_count = star_count - 1 where id = ?', [id])
  })
}

/** Subtracts the stars of a user from the counts. Call it before the user's rows are deleted, in the same transaction. */
export async function uncountStars(userId: number): Promise<void> {
  await execute(
    `update projects p join project_stars s on s.project_id = p.id set p.star_count = greatest(p.star_count, 1) - 1
     where s.user_id = ?`,
    [userId]
  )
}
