// Searches merge requests in all projects whose code the caller may see.
import type { Actor } from '../../../access/actor.js'
import { visibleProjects } from '../../../access/membership.js'
import { and } from '../../../db/lists/conditions.js'
import { REPORTER } from '../../../lib/levels.js'
import { idsByText } from '../participation/text-search.queries.js'
import { findMergeRequests, type ListedMergeRequestRow } from './merge-requests.queries.js'

/** Returns the newest merge requests whose texts match, at most `limit`. */
export async function findMergeRequestsByText(
  text: string,
  limit: number,
  actor: Actor
): Promise<ListedMergeRequestRow[]> {
  const enabled = { sql: 'm.deleted_at is null and p.merge_requests_enabled', values: [] }
  const visible = and(enabled, visibleProjects(actor, REPORTER))
  const ids = await idsByText(text, limit, { kind: 'merge_request', as: 'm', project: 'target_project_id', visible })
  const requests = await findMergeRequests(ids, actor)
  return requests.sort((a, b) => b.id - a.id)
}
