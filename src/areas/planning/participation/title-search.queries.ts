// Searches the titles of issues or merge requests in all projects.
import { type Fragment, rows } from '../../../db/connect/sql.js'
import { and, contains } from '../../../db/lists/conditions.js'

/** A search reads this many titles, those of the newest records, so that its time does not grow with the instance. */
export const SEARCHED = 20_000

interface Searched {
  readonly table: 'issues' | 'merge_requests'
  /** How `visible` names the table; it names the projects `p`. */
  readonly as: string
  readonly project: 'project_id' | 'target_project_id'
  /** The condition that the caller may see the record and its project. */
  readonly visible: Fragment
}

/** Returns the ids of the newest records with a text in their title, newest first, at most `limit`. */
export async function idsByTitle(
  text: string,
  limit: number,
  { table, as, project, visible }: Searched
): Promise<number[]> {
  const { sql, values } = and(contains([`${as}.title`], text), visible)
  const found = await rows<{ id: number }>(
    `select ${as}.id from (select id from ${table} order by id desc limit ${SEARCHED}) newest
     straight_join ${table} ${as} on ${as}.id = newest.id straight_join projects p on p.id = ${as}.${project}
     where ${sql} order by ${as}.id desc limit ${Math.trunc(limit)}`,
    values
  )
  return found.map(({ id }) => id)
}
