// Issues of all projects for the commands, newest first.
import { nobody } from '../../../access/actor.js'
import { type Fragment, rows } from '../../../db/connect/sql.js'
import { and, below, equals } from '../../../db/lists/conditions.js'
import { PART } from '../../../db/lists/paginate.js'
import { hasTitle } from '../labels/label-filter.js'
import { isOfMilestone } from '../milestones/milestone-filter.js'
import { shownColumns, shownValues } from '../participation/readings.js'
import type { State } from './issue-counts.js'
import { countSource, inState } from './issue-pages.queries.js'
import { type IssueReading, readIssues } from './issue-readings.js'
import { columnsWith, joinsBy, type ListedIssueRow } from './issues.queries.js'

export interface IssueFilter {
  readonly projectId?: number
  readonly state?: State
  /** Titles of labels; only issues with all of them pass. */
  readonly labels?: readonly string[]
  /** The title of a milestone. */
  readonly milestone?: string
}

const conditionOf = ({ projectId, state = 'opened', labels = [], milestone }: IssueFilter): Fragment =>
  and(
    equals('i.project_id', projectId),
    inState(state),
    ...labels.map(title => hasTitle('Issue', 'i', [title])),
    milestone === undefined ? undefined : isOfMilestone('i', milestone)
  )

/** Returns the newest issues that pass a filter, at most `limit`, without descriptions, and the total number. */
export async function listAllIssues(filter: IssueFilter, limit: number) {
  const [items, total] = await Promise.all([
    issuesBefore(filter, undefined, limit),
    countSource([{ from: 'issues i', where: conditionOf(filter) }])
  ])
  return { items, total }
}

/** Returns the next issues of such a list, after the issue with the id `last`. */
export async function issuesBefore(filter: IssueFilter, last?: number, most = PART): Promise<IssueReading[]> {
  const { sql, values } = and(conditionOf(filter), below('i.id', last))
  const found = await rows<ListedIssueRow>(
    `select ${columnsWith('null')}, ${shownColumns('Issue')}
     from (select i.id from issues i where ${sql} order by i.id desc limit ${Math.trunc(most)}) page
     join issues i on i.id = page.id ${joinsBy('left join')} order by page.id desc`,
    [...shownValues(), ...values]
  )
  return readIssues(found, nobody)
}
