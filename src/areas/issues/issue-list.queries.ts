// Lists of issues: of a project, of a group, and those that a user has made.
import type { Actor } from '../../access/actor.js'
import { type Fragment, projectsOfMember, visibleProjects } from '../../access/membership.js'
import { countTotal, type Page, window } from '../../db/paginate.js'
import { marks, row, rows, type Value } from '../../db/sql.js'
import { REPORTER } from '../../lib/levels.js'
import { hasLabel, hasTitle, titlesOfFilter } from '../labels/label-filter.js'
import { findLabels } from '../labels/labels.queries.js'
import { hasMilestone, hasMilestoneOf } from '../milestones/milestone-filter.js'
import type { ProjectRow } from '../projects/projects.queries.js'
import { issueCounts } from './issue-counts.js'
import { COLUMNS, type IssueRow, JOINS, seesConfidential, visibleIssues } from './issues.queries.js'
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
  return list('issues i', where, query, () =>
    filters.length > 0 ? countAll('issues i', where) : countOfProject(project, state, actor)
  )
}

/** A page of the issues of a milestone that the asker may see. */
export function listMilestoneIssues(
  project: ProjectRow,
  milestoneId: number,
  query: Pick<IssueListQuery, 'page' | 'per_page'>,
  actor: Actor
): Promise<Page<IssueRow>> {
  const where = and({ sql: 'i.milestone_id = ?', values: [milestoneId] }, visibleIssues(project, actor))
  return list('issues i', where, query, () => countAll('issues i', where))
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
  return list(IN_PROJECTS, where, query, () => countAll(IN_PROJECTS, where))
}

/** A page of the issues of the projects of a group that the asker may see. */
export function listGroupIssues(groupId: number, query: IssueListQuery, actor: Actor): Promise<Page<IssueRow>> {
  const where = and(
    { sql: 'p.namespace_id = ? and p.issues_enabled', values: [groupId] },
    visibleProjects(actor),
    inState(query.state ?? 'opened'),
    ...titlesOfFilter(query.labels).map(title => hasTitle('Issue', 'i', [title])),
    query.milestone ? hasMilestone('i', query.milestone) : ALL,
    confidentialOf(actor)
  )
  return list(IN_PROJECTS, where, query, () => countAll(IN_PROJECTS, where))
}

/** The condition that the asker may see the issue `i` of a project `p` that the asker may see. */
function confidentialOf({ user }: Actor): Fragment {
  if (user?.admin) return ALL
  const id = user?.id ?? 0
  const mine = projectsOfMember(id)
  return {
    sql: `(i.confidential = false or i.author_id = ? or i.assignee_id = ?
      or i.project_id in (select mine.id from (${mine.sql}) mine where mine.level >= ${REPORTER}))`,
    values: [id, id, ...mine.values]
  }
}

const countAll = (from: string, { sql, values }: Fragment): Promise<number> =>
  countTotal(`select count(*) as total from ${from} where ${sql}`, values)

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

async function list(
  from: string,
  { sql: where, values }: Fragment,
  query: Pick<IssueListQuery, 'page' | 'per_page' | 'order_by' | 'sort'>,
  count: () => Promise<number>
): Promise<Page<IssueRow>> {
  const { page, perPage, sql } = window(query)
  const order = query.order_by ?? 'created_at'
  const direction = query.sort ?? 'desc'
  // An index gives the ids of the page first; only their rows are joined.
  const ids = `select i.id, i.${order} as place from ${from} where ${where}
    order by i.${order} ${direction}, i.id ${direction} ${sql}`
  const [items, total] = await Promise.all([
    rows<IssueRow>(
      `select ${COLUMNS} from (${ids}) page join issues i on i.id = page.id ${JOINS}
       order by page.place ${direction}, page.id ${direction}`,
      values as Value[]
    ),
    count()
  ])
  return { items, total, page, perPage }
}
