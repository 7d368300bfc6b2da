// The numbers of issues and open merge requests with each label of a project, counting only those that the caller can see.
import { LRUCache } from 'lru-cache'
import type { Actor } from '../../../access/actor.js'
import { may } from '../../../access/authorize.js'
import { forgetWithPool } from '../../../db/connect/connection.js'
import { marks, padded, rows } from '../../../db/connect/sql.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { visibleIssues } from '../participation/visible-issues.js'

type Counts = ReadonlyMap<number, { readonly open_issues_count: number; readonly closed_issues_count: number }>

/** The number of links from which the counts are cached: counting 100,000 takes 0.1 s. Like other large totals, they may be 5 s old. */
const LARGE = 1000
const kept = new LRUCache<string, Counts>({ max: 200, ttl: 5000 })
forgetWithPool(() => kept.clear())

export async function countIssues(project: ProjectRow, ids: readonly number[], actor: Actor): Promise<Counts> {
  if (!project.issues_enabled) return new Map()
  const visible = visibleIssues(project, actor)
  const key = JSON.stringify([project.id, ids, visible.values])
  const known = kept.get(key)
  if (known) return known
  const list = padded(ids)
  const found = await rows<{ label_id: number; open: number; total: number }>(
    `select k.label_id, cast(sum(i.is_open) as signed) as open, count(*) as total
     from label_links k force index (label_links_place) straight_join issues i on i.id = k.target_id
     where k.target_type = 'Issue' and k.label_id in (${marks(list)}) and i.project_id = ? and ${visible.sql}
     group by k.label_id`,
    [...list, project.id, ...visible.values]
  )
  const counts: Counts = new Map(
    found.map(({ label_id: id, open, total }) => [id, { open_issues_count: open, closed_issues_count: total - open }])
  )
  if (found.reduce((sum, { total }) => sum + total, 0) >= LARGE) kept.set(key, counts)
  return counts
}

export async function countOpenMergeRequests(
  project: ProjectRow,
  ids: readonly number[],
  actor: Actor
): Promise<ReadonlyMap<number, { readonly open_merge_requests_count: number }>> {
  if (!may(actor, 'merge_request.read', project)) return new Map()
  const list = padded(ids)
  const found = await rows<{ label_id: number; open: number }>(
    `select k.label_id, count(*) as open from label_links k join merge_requests m on m.id = k.target_id
     where k.target_type = 'MergeRequest' and k.label_id in (${marks(list)}) and m.target_project_id = ? and m.is_open = true
     group by k.label_id`,
    [...list, project.id]
  )
  return new Map(found.map(({ label_id: id, open }) => [id, { open_merge_requests_count: open }]))
}
