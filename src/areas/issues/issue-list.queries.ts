// Lists of issues: of a project, of a group, and those that a user has made.
import type { Actor } from '../../access/actor.js'
import { type Fragment, visibleProjects } from '../../access/membership.js'
import { countTotal, type Page, pageOf, type Reading, window } from '../../db/paginate.js'
import { marks, row, rows } from '../../db/sql.js'
import { hasLabel, hasTitle, titlesOfFilter } from '../labels/label-filter.js'
import { findLabels } from '../labels/labels.queries.js'
import { hasMilestone, hasMilestoneOf } from '../milestones/milestone-filter.js'
import type { ProjectRow } from '../projects/projects.queries.js'
import { issueCounts } from './issue-counts.js'
import { COLUMNS, type IssueRow, JOINS, readableIssues, seesConfidential, visibleIssues } from './issues.queries.js'
import type { IssueListQuery } from './issues.schema.js'

const ALL: Fragment = { sql: 'true', values: [] }

const and = (...parts: readonly Fragment[]): Fragment => {
  const some = parts.filter(part => part !== ALL)
  return { sql: some.map(({ sql }) => sql).join(' and ') || 'true', values: some.flatMap(({ values }) => values) }
}

type State = 'opened' | 'closed' | 'all'

const inState = (state: State): Fragment =>
  state === 'all' ? ALL : { sql: 'i.is_open = ?', values: [state === 'opened'] }

/** A page of the issues of a project that the asker may see. */
export async function listProjectIssues(
  project: ProjectRow,
  query: IssueListQuery,
  actor: Actor
): Promise<Page<IssueRow>> {
  const { state = 'all', iid, milestone } = query
  const titles = titlesOfFilter(query.labels)
  const labels = [...(await findLabels(project, titles)).values()].map(({ id }) => id)
  const filters = [
    ...(titles.length > 0 ? [hasLabel('Issue', 'i', labels)] : []),
    ...(milestone ? [hasMilestoneOf('i', project.id, milestone)] : []),
    ...(iid ? [{ sql: `i.iid in (${marks(iid)})`, values: iid }] : [])
  ]
  const of: Fragment = { sql: 'i.project_id = ?', values: [project.id] }
  const where = and(of, inState(state), visibleIssues(project, actor), ...filters)
  if (filters.length > 0) return list('issues i', where, query, countAll('issues i', where))
  return list('issues i', where, query, { exact: true, count: countOfProject(project, state, actor) })
}

/** A page of the issues of a milestone that the asker may see. */
export function listMilestoneIssues(
  project: ProjectRow,
  milestoneId: number,
  query: Pick<IssueListQuery, 'page' | 'per_page'>,
  actor: Actor
): Promise<Page<IssueRow>> {
  const where = and({ sql: 'i.milestone_id = ?', values: [milestoneId] }, visibleIssues(project, actor))
  return list('issues i', where, query, countAll('issues i', where))
}

const IN_PROJECTS = 'issues i join projects p on p.id = i.project_id'

/** A page of the issues that the asker has made, in the projects that the asker may see. */
export function listOwnIssues(query: IssueListQuery, actor: Actor): Promise<Page<IssueRow>> {
  const titles = titlesOfFilter(query.labels)
  const where = and(
    { sql: 'i.author_id = ? and p.issues_enabled', values: [actor.user?.id ?? 0] },
    visibleProjects(actor),
    inState(query.state ?? 'all'),
    titles.length > 0 ? hasTitle('Issue', 'i', titles) : ALL,
    query.milestone ? hasMilestone('i', query.milestone) : ALL
  )
  return list(IN_PROJECTS, where, query, countAll(IN_PROJECTS, where))
}

/** A page of the issues of the projects of a group that the asker may see. */
export function listGroupIssues(groupId: number, query: IssueListQuery, actor: Actor): Promise<Page<IssueRow>> {
  const where = and(
    { sql: 'p.namespace_id = ? and p.issues_enabled', values: [groupId] },
    visibleProjects(actor),
    inState(query.state ?? 'opened'),
    ...titlesOfFilter(query.labels).map(title => hasTitle('Issue', 'i', [title])),
    query.milestone ? hasMilestone('i', query.milestone) : ALL,
    readableIssues(actor)
  )
  return list(IN_PROJECTS, where, query, countAll(IN_PROJECTS, where))
}

const countAll = (from: string, { sql, values }: Fragment): Total => ({
  exact: false,
  count: countTotal(`select count(*) as total from ${from} where ${sql}`, values)
})

/** How many issues of a project the asker may see, without a filter: the kept numbers say it. */
async function countOfProject(project: ProjectRow, state: State, actor: Actor): Promise<number> {
  const { total, confidential } = await issueCounts(project.id, state)
  if (seesConfidential(project, actor) || confidential === 0) return total
  const id = actor.user?.id ?? 0
  const where = and(
    {
      sql: 'i.project_id = ? and i.confidential and (i.author_id = ? or i.assignee_id = ?)',
      values: [project.id, id, id]
    },
    inState(state)
  )
  const own = await row<{ total: number }>(`select count(*) as total from issues i where ${where.sql}`, where.values)
  return total - confidential + (own?.total ?? 0)
}

/** What a list is counted by: `exact` when the total follows every change, so that far pages can be read from the end. */
interface Total {
  readonly exact: boolean
  readonly count: Promise<number>
}

async function list(
  from: string,
  { sql: where, values }: Fragment,
  query: Pick<IssueListQuery, 'page' | 'per_page' | 'order_by' | 'sort'>,
  { exact, count }: Total
): Promise<Page<IssueRow>> {
  const part = window(query)
  const order = query.order_by ?? 'created_at'
  const asked = query.sort ?? 'desc'
  // An index gives the ids of the page first; only their rows are joined.
  const read = ({ direction, sql }: Reading) =>
    rows<IssueRow>(
      `select ${COLUMNS} from (select i.id, i.${order} as place from ${from} where ${where}
         order by i.${order} ${direction}, i.id ${direction} ${sql}) page join issues i on i.id = page.id ${JOINS}
       order by page.place ${direction}, page.id ${direction}`,
      values
    )
  if (exact) return pageOf(part, count, asked, read)
  const { page, perPage, sql } = part
  const [items, total] = await Promise.all([read({ direction: asked, sql }), count])
  return { items, total, page, perPage }
}
