// Searches merge requests in all projects whose code the caller may see.
import type { Actor } from '../../../access/actor.js'
import { visibleProjects } from '../../../access/membership.js'
import { rows } from '../../../db/connect/sql.js'
import { and, contains } from '../../../db/lists/conditions.js'
import { REPORTER } from '../../../lib/levels.js'
import { SEARCHED } from '../issues/issue-search.queries.js'
import { findMergeRequests, type ListedMergeRequestRow } from './merge-requests.queries.js'

/** Returns the newest merge requests with a text in their title, at most `limit`. */
export async function searchMergeRequests(text: string, limit: number, actor: Actor): Promise<ListedMergeRequestRow[]> {
  const { sql, values } = and(
    contains(['m.title'], text),
    { sql: 'm.deleted_at is null and p.merge_requests_enabled', values: [] },
    visibleProjects(actor, REPORTER)
  )
  const found = await rows<{ id: number }>(
    `select m.id from (select id from merge_requests order by id desc limit ${SEARCHED}) newest
     straight_join merge_requests m on m.id = newest.id straight_join projects p on p.id = m.target_project_id
     where ${sql} order by m.id desc limit ${Math.trunc(limit)}`,
    values
  )
  const ids = found.map(({ id }) => id)
  const requests = await findMergeRequests(ids, actor)
  return requests.sort((a, b) => b.id - a.id)
}
