// What the record of a label shows in addition to its row.
import type { Actor } from '../../../access/actor.js'
import { rows } from '../../../db/connect/sql.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { labelCounting } from './label-counts.queries.js'
import { LABEL_COLUMNS, LABELS, type LabelRow, OF_PROJECT } from './labels.queries.js'

type LabelCount = 'open_issues_count' | 'closed_issues_count' | 'open_merge_requests_count'

export interface LabelReading {
  readonly label: LabelRow
  readonly counts: Readonly<Record<LabelCount, number>>
  readonly subscribed: boolean
}

interface ShownRow extends LabelRow {
  readonly subscribed: number | null
  readonly issues: string | null
  readonly merge_requests: number | null
}

/** Reads the labels that a project can use, sorted by title, with what their records show to the caller: with one statement. */
export const readLabels = (project: ProjectRow, actor: Actor): Promise<LabelReading[]> => read(project, actor)

/** Reads what the record of one label shows to the caller. */
export async function readLabel(project: ProjectRow, label: LabelRow, actor: Actor): Promise<LabelReading> {
  const [reading] = await read(project, actor, label.id)
  const counts = { open_issues_count: 0, closed_issues_count: 0, open_merge_requests_count: 0 }
  return reading ? { ...reading, label } : { label, counts, subscribed: false }
}

async function read(project: ProjectRow, actor: Actor, labelId?: number): Promise<LabelReading[]> {
  const { id, namespace_id: group } = project
  const { issues, mergeRequests, settle } = labelCounting(project, actor, labelId)
  const found = await rows<ShownRow>(
    `select ${LABEL_COLUMNS}, s.subscribed, ${issues.sql} as issues, ${mergeRequests.sql} as merge_requests ${LABELS}
     left join subscriptions s on s.target_type = 'Label' and s.target_id = l.id and s.user_id = ? and s.project_id = ?
     where ${OF_PROJECT} ${labelId === undefined ? '' : 'and l.id = ?'} order by l.title, l.id`,
    [
      ...issues.values,
      ...mergeRequests.values,
      id,
      actor.user?.id ?? 0,
      id,
      id,
      group,
      ...(labelId === undefined ? [] : [labelId])
    ]
  )
  const issuesOf = settle(found)
  if (!issuesOf) return read(project, actor, labelId)
  return found.map(label => {
    const { subscribed, merge_requests } = label
    const [open = 0, total = 0] = issuesOf.get(label.id)?.split(' ').map(Number) ?? []
    return {
      label,
      counts: {
        open_issues_count: open,
        closed_issues_count: total - open,
        open_merge_requests_count: merge_requests ?? 0
      },
      subscribed: subscribed === 1
    }
  })
}
