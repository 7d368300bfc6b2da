// Searches issues in all projects that the caller may see.
import type { Actor } from '../../../access/actor.js'
import { visibleProjects } from '../../../access/membership.js'
import { rows } from '../../../db/connect/sql.js'
import { and, contains } from '../../../db/lists/conditions.js'
import { findIssues, type ListedIssueRow, readableIssues } from './issues.queries.js'

/** A search reads the titles of this many issues, the newest ones, so that its time does not grow with the instance. */
export const SEARCHED = 20_000

/** Returns the newest issues with a text in their title, at most `limit`. */
export async function searchIssues(text: string, limit: number, actor: Actor): Promise<ListedIssueRow[]> {
  const { sql, values } = and(
    contains(['i.title'], text),
    { sql: 'p.issues_enabled', values: [] },
    visibleProjects(actor),
    readableIssues(actor)
  )
  const found = await rows<{ id: number }>(
    `select i.id from (select id from issues order by id desc limit ${SEARCHED}) newest
     straight_join issues i on i.id = newest.id straight_join projects p on p.id = i.project_id
     where ${sql} order by i.id desc limit ${Math.trunc(limit)}`,
    values
  )
  const ids = found.map(({ id }) => id)
  const issues = await findIssues(ids, actor)
  return issues.sort((a, b) => b.id - a.id)
}
