// The links between forks and their sources. The row of a source counts its forks.
import { execute, marks, row, rows } from '../../../db/connect/sql.js'

export interface ForkLink {
  readonly id: number
  readonly forked_to_project_id: number
  readonly forked_from_project_id: number
  readonly created_at: Date
  readonly updated_at: Date
}

/** Returns the link of a fork to its source; undefined for a project that is not a fork. */
export const findForkLink = (projectId: number): Promise<ForkLink | undefined> =>
  row<ForkLink>(
    `select id, forked_to_project_id, forked_from_project_id, created_at, updated_at from forked_project_links
     where forked_to_project_id = ?`,
    [projectId]
  )

/** Makes a project a fork of another one; it must not be one yet. Call it inside `transact`. */
export async function insertForkLink(toId: number, fromId: number): Promise<void> {
  const now = new Date()
  await execute(
    `insert into forked_project_links (forked_to_project_id, forked_from_project_id, created_at, updated_at)
     values (?, ?, ?, ?)`,
    [toId, fromId, now, now]
  )
  await execute('update projects set is_fork = true where id = ?', [toId])
  await recountForks([fromId])
}

/** Ends the relation of a fork to its source. Returns false when the project is not a fork. */
export async function deleteForkLink(toId: number): Promise<boolean> {
  const sources = await sourcesOf([toId])
  const { affectedRows } = await execute('delete from forked_project_links where forked_to_project_id = ?', [toId])
  await execute('update projects set is_fork = false where id = ?', [toId])
  await recountForks(sources)
  return affectedRows > 0
}

/** Returns the ids of the fork sources of these projects. */
export async function sourcesOf(ids: readonly number[]): Promise<number[]> {
  const found = await rows<{ id: number }>(
    `select distinct forked_from_project_id as id from forked_project_links
     where forked_to_project_id in (${marks(ids)})`,
    ids
  )
  return found.map(({ id }) => id)
}

/** Counts the forks of projects again. */
export async function recountForks(ids: readonly number[]): Promise<void> {
  for (const id of [...ids].sort((a, b) => a - b)) {
    await execute(
      `update projects set forks_count = (select count(*) from forked_project_links where forked_from_project_id = ?)
       where id = ?`,
      [id, id]
    )
  }
}
