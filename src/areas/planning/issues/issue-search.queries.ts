// Searches issues in all projects that the caller may see.
import type { Actor } from '../../../access/actor.js'
import { visibleProjects } from '../../../access/membership.js'
import { and } from '../../../db/lists/conditions.js'
import { idsByTitle } from '../participation/title-search.queries.js'
import { findIssues, type ListedIssueRow, readableIssues } from './issues.queries.js'

/** Returns the newest issues with a text in their title, at most `limit`. */
export async function findIssuesByTitle(text: string, limit: number, actor: Actor): Promise<ListedIssueRow[]> {
  const visible = and({ sql: 'p.issues_enabled', values: [] }, visibleProjects(actor), readableIssues(actor))
  const ids = await idsByTitle(text, limit, { table: 'issues', as: 'i', project: 'project_id', visible })
  const issues = await findIssues(ids, actor)
  return issues.sort((a, b) => b.id - a.id)
}
