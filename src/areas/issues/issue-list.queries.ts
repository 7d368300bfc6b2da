// Lists of issues: of a project, of a group, and those that a user has made.
import type { Actor } from '../../access/actor.js'
import { type Fragment, visibleProjects } from '../../access/membership.js'
import { countTotal, type Page, pageOf, type Reading, window } from '../../db/paginate.js'
import { marks, row, rows } from '../../db/sql.js'
import { hasLabel, hasTitle, titlesOfFilter } from '../labels/label-filter.js'
import { findLabels } from '../labels/labels.queries.js'
import { hasMilestone, NO_MILESTONE } from '../milestones/milestone-filter.js'
import { findMilestoneByTitle } from '../milestones/milestones.queries.js'
import { shownColumns, shownValues } from '../participation/readings.js'
import type { ProjectRow } from '../projects/projects.queries.js'
import { issueCounts } from './issue-counts.js'
import { COLUMNS, JOINS, type ListedIssueRow, seesConfidential, visibleIssues } from './issues.queries.js'
import type { IssueListQuery } from './issues.schema.js'

export const ALL: Fragment = { sql: 'true', values: [] }

export const and = (...parts: readonly Fragment[]): Fragment => {
  const some = parts.filter(part => part !== ALL)
  return { sql: some.map(({ sql }) => sql).join(' and ') || 'true', values: some.flatMap(({ values }) => values) }
}

export type State = 'opened' | 'closed' | 'all'

export const inState = (state: State): Fragment =>
  state === 'all' ? ALL : { sql: 'i.is_open = ?', values: [state === 'opened'] }

/** A page of the issues of a project that the asker may see. */
export async function listProjectIssues(
  project: ProjectRow,
  query: IssueListQuery,
  actor: Actor
): Promise<Page<ListedIssueRow>> {
  const { state = 'all', iid, milestone } = query
  const titles = titlesOfFilter(query.labels)
  const labels = [...(await findLabels(project, titles)).values()].map(({ id }) => id)
  const step = milestone && milestone !== NO_MILESTONE ? await findMilestoneByTitle(project.id, milestone) : undefined
  const filters = [
    ...(titles.length > 0 ? [hasLabel('Issue', 'i', labels)] : []),
    ...(milestone
      ? [{ sql: step ? 'i.milestone_id = ?' : (NONE[milestone] ?? 'false'), values: step ? [step.id] : [] }]
      : []),
    ...(iid ? [{ sql: `i.iid in (${marks(iid)})`, values: iid }] : [])
  ]
  const of: Fragment = { sql: 'i.project_id = ?', values: [project.id] }
  const where = and(of, inState(state), visibleIssues(project, actor), ...filters)
  const inOrder = `issues i force index (issues${state === 'all' ? '' : '_open'}_${orderOf(query)})`
  const all = () => countOfProject(project, state, actor)
  if (filters.length === 0) return list(inOrder, where, query, actor, { exact: true, count: all() })
  if (iid || step || titles.length === 0) {
    return list(
      titles.length > 0 || iid || step ? 'issues i' : inOrder,
      where,
      query,
      actor,
      countAll('issues i', where)
    )
  }
  // With labels. The others hold for few more, so they do not change the choice.
  const others = and(of, inState(state), visibleIssues(project, actor), ...filters.slice(1))
  const labelled = withLabels(labels)
  const total = countAll(labelled.sql, { sql: others.sql, values: [...labelled.values, ...others.values] })
  if (await isFew(query, await total.count, all)) {
    return list(labelled.sql, { sql: others.sql, values: [...labelled.values, ...others.values] }, query, actor, total)
  }
  return list(inOrder, ofScan(where), query, actor, total)
}

/** The issues that have one of these labels, each once: found by the labels, then by their ids. */
const withLabels = (labels: readonly number[]): Fragment =>
  labels.length === 1
    ? {
        sql: `label_links k force index (label_links_label) straight_join issues i
          on i.id = k.target_id and k.target_type = 'Issue' and k.label_id = ?`,
        values: labels
      }
    : {
        sql: `(select distinct k.target_id as id from label_links k
          where k.target_type = 'Issue' and k.label_id in (${marks(labels)})) f straight_join issues i on i.id = f.id`,
        values: labels
      }

const NONE: { readonly [milestone: string]: string } = { [NO_MILESTONE]: 'i.milestone_id is null' }

export const orderOf = ({ order_by: order }: Pick<IssueListQuery, 'order_by'>) =>
  order === 'updated_at' ? 'updated' : 'created'

/**
 * Tells whether it costs less to find and sort all that pass the filters than to walk through the issues of the project in
 * order until a page is full. The walk meets one that passes in every `all / total`.
 */
async function isFew(query: IssueListQuery, total: number, count: () => Promise<number>): Promise<boolean> {
  if (total < SORTED_AT_ONCE) return true
  const { page, perPage } = window(query)
  return (page * perPage * (await count())) / total > total
}

/** So few are always sorted: that takes less than a millisecond. */
const SORTED_AT_ONCE = 200

/** The database would turn `exists` into a join that begins with the labels. */
const ofScan = ({ sql, values }: Fragment): Fragment => ({
  sql: sql.replaceAll('exists (select 1 from label_links', '0 < (select count(*) from label_links'),
  values
})

/** A page of the issues of a milestone that the asker may see. */
export function listMilestoneIssues(
  project: ProjectRow,
  milestoneId: number,
  query: Pick<IssueListQuery, 'page' | 'per_page'>,
  actor: Actor
): Promise<Page<ListedIssueRow>> {
  const where = and({ sql: 'i.milestone_id = ?', values: [milestoneId] }, visibleIssues(project, actor))
  return list('issues i', where, query, actor, countAll('issues i', where))
}

export const IN_PROJECTS = 'issues i join projects p on p.id = i.project_id'

/** A page of the issues that the asker has made, in the projects that the asker may see. */
export function listOwnIssues(query: IssueListQuery, actor: Actor): Promise<Page<ListedIssueRow>> {
  const titles = titlesOfFilter(query.labels)
  const made: Fragment = { sql: 'i.author_id = ?', values: [actor.user?.id ?? 0] }
  const state = inState(query.state ?? 'all')
  const visible = and({ sql: 'p.issues_enabled', values: [] }, visibleProjects(actor))
  const filters = [
    ...(titles.length > 0 ? [hasTitle('Issue', 'i', titles)] : []),
    ...(query.milestone ? [hasMilestone('i', query.milestone)] : [])
  ]
  const where = and(made, visible, state, ...filters)
  if (filters.length > 0) return list(IN_PROJECTS, where, query, actor, countAll(IN_PROJECTS, where))
  const mine = and(made, state)
  // An index has the numbers by project, so that only the projects are read.
  const count = countTotal(
    `select cast(coalesce(sum(x.issues), 0) as signed) as total from
       (select i.project_id, count(*) as issues from issues i where ${mine.sql} group by i.project_id) x
       straight_join projects p on p.id = x.project_id where ${visible.sql}`,
    [...mine.values, ...visible.values]
  )
  if (orderOf(query) !== 'created') return list(IN_PROJECTS, where, query, actor, { exact: false, count })
  // Not a join: the database would sort all of its rows.
  const seen: Fragment = {
    sql: `0 < (select count(*) from projects p where p.id = i.project_id and ${visible.sql})`,
    values: visible.values
  }
  return list('issues i force index (issues_author)', and(mine, seen), query, actor, { exact: false, count })
}

export const countAll = (from: string, { sql, values }: Fragment): Total => ({
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

export async function list(
  from: string,
  { sql: where, values }: Fragment,
  query: Pick<IssueListQuery, 'page' | 'per_page' | 'order_by' | 'sort'>,
  { user }: Actor,
  { exact, count }: Total
): Promise<Page<ListedIssueRow>> {
  const part = window(query)
  const order = query.order_by ?? 'created_at'
  const asked = query.sort ?? 'desc'
  // An index gives the ids of the page first; only their rows are joined.
  const read = ({ direction, sql }: Reading) =>
    rows<ListedIssueRow>(
      `select ${COLUMNS}, ${shownColumns('Issue')} from (select i.id, i.${order} as place from ${from} where ${where}
         order by i.${order} ${direction}, i.id ${direction} ${sql}) page join issues i on i.id = page.id ${JOINS}
       order by page.place ${direction}, page.id ${direction}`,
      [...shownValues(user?.id), ...values]
    )
  if (exact) return pageOf(part, count, asked, read)
  const { page, perPage, sql } = part
  const [items, total] = await Promise.all([read({ direction: asked, sql }), count])
  return { items, total, page, perPage }
}
