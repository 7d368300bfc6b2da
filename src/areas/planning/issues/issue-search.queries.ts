// Searches issues in all projects that the caller may see.
import type { Actor } from '../../../access/actor.js'
import { visibleProjects } from '../../../access/membership.js'
import { and } from '../../../db/lists/conditions.js'
import { idsByText } from '../participation/text-search.queries.js'
import { findIssues, type ListedIssueRow, readableIssues } from './issues.queries.js'

/** Returns the newest issues whose texts match, at most `limit`. */
export async function findIssuesByText(text: string, limit: number, actor: Actor): Promise<ListedIssueRow[]> {
  const visible = and({ sql: 'p.issues_enabled', values: [] }, visibleProjects(actor), readableIssues(actor))
  const ids = await idsByText(text, limit, { kind: 'issue', as: 'i', project: 'project_id', visible })
  const issues = await findIssues(ids, actor)
  return issues.sort((a, b) => b.id - a.id)
}
