// The numbers of issues and open merge requests with each label of a project, counting only those that the caller can see.
import { LRUCache } from 'lru-cache'
import type { Actor } from '../../../access/actor.js'
import { may } from '../../../access/authorize.js'
import { forgetWithPool } from '../../../db/connect/connection.js'
import type { Fragment } from '../../../db/connect/sql.js'
import { noteFreshness } from '../../../lib/request-scope.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { visibleIssues } from '../participation/visible-issues.js'

/** `OPEN TOTAL`: the issues of a label. */
type IssueCounts = ReadonlyMap<number, string>

/** The number of links from which the counts are cached: counting 100,000 takes 0.1 s. Like other large totals, they may be 5 s old. */
const LARGE = 1000
const KEEP_MS = 5000
const kept = new LRUCache<string, IssueCounts>({ max: 200, ttl: KEEP_MS })
forgetWithPool(() => kept.clear())

const NOTHING: Fragment = { sql: 'null', values: [] }

interface CountedLabel {
  readonly id: number
  readonly issues: string | null
}

/** How to count for each label `l` of a statement. */
export interface LabelCounting {
  readonly issues: Fragment
  readonly mergeRequests: Fragment
  /**
   * Returns the issues of labels, as the statement has counted them, or as they are cached. Undefined when a cached list lacks
   * one of the labels: then it is forgotten.
   */
  readonly settle: (labels: readonly CountedLabel[]) => IssueCounts | undefined
}

/** Returns how to count for the labels of a project, all or one. */
export function labelCounting(project: ProjectRow, actor: Actor, labelId?: number): LabelCounting {
  const { issues, settle } = issueCounting(project, actor, labelId)
  return { issues, mergeRequests: openMergeRequests(project, actor), settle }
}

function issueCounting(project: ProjectRow, actor: Actor, labelId?: number): Omit<LabelCounting, 'mergeRequests'> {
  if (!project.issues_enabled) return { issues: NOTHING, settle: () => new Map() }
  const visible = visibleIssues(project, actor)
  const key = JSON.stringify([project.id, labelId, visible.values])
  const known = kept.get(key)
  if (known) {
    noteFreshness(Date.now() + kept.getRemainingTTL(key))
    const settle = (labels: readonly CountedLabel[]) => {
      if (labels.every(({ id }) => known.has(id))) return known
      kept.delete(key)
      return undefined
    }
    return { issues: NOTHING, settle }
  }
  return {
    issues: {
      sql: `(select concat(coalesce(sum(i.is_open), 0), ' ', count(*))
        from label_links k force index (label_links_place) straight_join issues i on i.id = k.target_id
        where k.target_type = 'Issue' and k.label_id = l.id and i.project_id = ? and ${visible.sql})`,
      values: [project.id, ...visible.values]
    },
    settle: labels => {
      const counted = new Map(labels.map(({ id, issues }) => [id, issues ?? '']))
      const links = [...counted.values()].reduce((sum, counts) => sum + Number(counts.split(' ')[1]), 0)
      if (links >= LARGE) {
        kept.set(key, counted)
        noteFreshness(Date.now() + KEEP_MS)
      }
      return counted
    }
  }
}

function openMergeRequests(project: ProjectRow, actor: Actor): Fragment {
  if (!may(actor, 'merge_request.read', project)) return NOTHING
  return {
    sql: `(select count(*) from label_links k straight_join merge_requests m on m.id = k.target_id
      where k.target_type = 'MergeRequest' and k.label_id = l.id and m.target_project_id = ? and m.is_open = true)`,
    values: [project.id]
  }
}
