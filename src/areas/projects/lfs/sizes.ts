// How many bytes the objects of a project have that count for its limit. A row keeps the sum, because summing up 100,000 links takes 20 ms
// of the database, for each upload. What changes links otherwise than an upload removes the row, and the next upload sums them up again.
// An earlier program on the same database does not know the row, so the daily upkeep removes all of them.
import { lockRow } from '../../../db/connect/lock-row.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'

/** Returns how many bytes the objects of a project have. */
export async function lfsSizeOf(projectId: number): Promise<number> {
  const found = await row<{ size: string | number }>(
    `select coalesce((select z.size from lfs_sizes z where z.project_id = ?),
       (select sum(l.size) from lfs_links l where l.project_id = ? and not l.held), 0) as size`,
    [projectId, projectId]
  )
  return Number(found?.size ?? 0)
}

/** Keeps the sum. Call it in a transaction that has locked the project. */
export async function keepLfsSize(projectId: number, size: number): Promise<void> {
  await execute('insert into lfs_sizes (project_id, size) values (?, ?) on duplicate key update size = values(size)', [
    projectId,
    size
  ])
}

/** Changes the links of a project that count for its limit, while no upload does. */
export function changeLinks<T>(projectId: number, change: () => Promise<T>): Promise<T> {
  return transact(async () => {
    await lockRow('projects', projectId)
    const changed = await change()
    await forgetLfsSize(projectId)
    return changed
  })
}

/** Call it in the transaction that changes links. */
export const forgetLfsSize = (projectId: number) => execute('delete from lfs_sizes where project_id = ?', [projectId])

export const forgetLfsSizes = () => execute('delete from lfs_sizes')
