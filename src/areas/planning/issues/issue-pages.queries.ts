// Reads a page of issues: first the ids of the page from an index, then the columns of their records.
import type { Actor } from '../../../access/actor.js'
import type { Fragment } from '../../../access/membership.js'
import { row, rows } from '../../../db/connect/sql.js'
import { and, equals } from '../../../db/lists/conditions.js'
import { fromPlace, versionOf } from '../../../db/lists/keyset-cache.js'
import {
  countTotal,
  type Direction,
  isFar,
  type Page,
  type PlacedReading,
  pageOfMoving,
  pageOfSteady,
  window
} from '../../../db/lists/paginate.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { shownColumns, shownValues } from '../participation/readings.js'
import { seesConfidential } from '../participation/visible-issues.js'
import { type IssueCounts, issueCounts, KEPT_COUNTS, readCounts, type State } from './issue-counts.js'
import { type IssueRow, LISTED, type ListedIssueRow, withDescriptions } from './issues.queries.js'
import type { IssueListQuery } from './issues.schema.js'

export const inState = (state: State): Fragment | undefined =>
  equals('i.is_open', state === 'all' ? undefined : state === 'opened')

export const orderOf = ({ order_by: order }: Pick<IssueListQuery, 'order_by'>) =>
  order === 'updated_at' ? 'updated' : 'created'

/** Returns the issues of a project, by the index that contains them in the order of a list. */
export const inOrderOf = (state: State, query: Pick<IssueListQuery, 'order_by'>): string =>
  `issues i force index (issues${state === 'all' ? '' : '_open'}_${orderOf(query)})`

export const IN_PROJECTS = 'issues i join projects p on p.id = i.project_id'

/** The source of the ids of a page. Its columns are those of the issue `i`, unless `at` and `id` name copies. */
export interface Source {
  readonly from: string
  /** The values of `from` come first in its values. */
  readonly where: Fragment
  readonly at?: string
  readonly id?: string
  /** Whether other sources of the same list may contain the same issues. */
  readonly shares?: boolean
}

export const countSource = ([{ from, where }]: readonly [Source]): Promise<number> =>
  countTotal(`select count(*) as total from ${from} where ${where.sql}`, where.values)

type PageQuery = Pick<IssueListQuery, 'page' | 'per_page' | 'order_by' | 'sort'>

/** Returns the statement that reads the ids of a page from one or more sources, each id once. */
function idsOf(
  sources: readonly Source[],
  order: string,
  { direction, sql, until, from: place }: PlacedReading
): Fragment {
  const part = ({ from, where, at = `i.${order}`, id = 'i.id' }: Source, limit: string): Fragment => {
    const { sql: condition, values } = place ? and(where, fromPlace(at, id, direction, place)) : where
    return {
      sql: `select ${id} as id, ${at} as place from ${from} where ${condition} order by ${at} ${direction}, ${id} ${direction} ${limit}`,
      values
    }
  }
  const [first] = sources
  if (first && sources.length === 1) return part(first, sql)
  const parts = sources.map(source => part(source, `limit ${until}`))
  const union = sources.some(({ shares }) => shares) ? ' union ' : ' union all '
  return {
    sql: `select f.id, f.place from (${parts.map(each => `(${each.sql})`).join(union)}) f
      order by f.place ${direction}, f.id ${direction} ${sql}`,
    values: parts.flatMap(({ values }) => values)
  }
}

/**
 * Joins by primary keys and in this order: otherwise the database begins with a small table of projects or users and
 * sorts whole rows in a temporary table, which took 0.4 ms of a page.
 */
const IN_ORDER = `join issues i force index (primary) on i.id = page.id
  join projects p force index (primary) on p.id = i.project_id join namespaces n force index (primary) on n.id = p.namespace_id
  join users a force index (primary) on a.id = i.author_id left join users e force index (primary) on e.id = i.assignee_id`

/** Reads the rows of a page. Joins only the rows of its ids. */
async function readRows<T extends ListedIssueRow>(
  ids: Fragment,
  direction: Direction,
  { user }: Actor,
  more: Fragment = { sql: '', values: [] }
): Promise<T[]> {
  const found = await rows<T>(
    `select straight_join ${LISTED}, ${shownColumns('Issue')}${more.sql} from (${ids.sql}) page ${IN_ORDER}
     order by page.place ${direction}, page.id ${direction}`,
    [...shownValues(user?.id), ...more.values, ...ids.values]
  )
  return withDescriptions(found)
}

const placedBy =
  (order: 'created_at' | 'updated_at') =>
  (issue: IssueRow): { readonly at: Date; readonly id: number } => ({ at: issue[order], id: issue.id })

/** A request for a list. */
export interface List {
  readonly query: PageQuery
  readonly actor: Actor
}

/** A way to read a list: the sources of the ids of its pages, and how to count it. */
export type Plan<Asked extends List> = {
  readonly fits: (list: Asked) => boolean | Promise<boolean>
  readonly sources: (list: Asked) => readonly Source[]
} & (
  | { readonly count: (list: Asked) => Promise<number> }
  /** Reads both the page and the total. */
  | { readonly page: (sources: readonly Source[], list: Asked) => Promise<Page<ListedIssueRow>> }
)

/** Reads a page of a list by the first plan that fits. */
export async function pageByPlan<Asked extends List>(
  plans: readonly Plan<Asked>[],
  list: Asked
): Promise<Page<ListedIssueRow>> {
  for (const plan of plans) {
    if (!(await plan.fits(list))) continue
    const sources = plan.sources(list)
    return 'page' in plan ? plan.page(sources, list) : pageOf(sources, list, plan.count(list))
  }
  throw new Error('no plan fits the list')
}

/** Returns a page of the issues of the sources, each issue once. */
export async function pageOf(
  sources: readonly Source[],
  { query, actor }: List,
  count: Promise<number>
): Promise<Page<ListedIssueRow>> {
  const part = window(query)
  if (sources.length === 0) return { items: [], total: await count, page: part.page, perPage: part.perPage }
  const order = query.order_by ?? 'created_at'
  return pageOfMoving<ListedIssueRow>(part, {
    key: JSON.stringify([order, sources]),
    version: () => versionOf('Issue'),
    direction: query.sort ?? 'desc',
    count,
    placed: placedBy(order),
    read: reading => readRows(idsOf(sources, order, reading), reading.direction, actor)
  })
}

/** A row with the stored counts of the project, which the same statement read. */
interface CountedRow extends ListedIssueRow {
  readonly counts: string
}

/** A list of the issues of one project that the caller may see. */
export interface ProjectList extends List {
  readonly project: ProjectRow
  readonly state: State
}

/**
 * Returns a page of a list that is filtered only by state. Its statement also reads the stored counts of the project,
 * which contain the total.
 */
export async function pageWithKeptCounts(sources: readonly Source[], list: ProjectList): Promise<Page<ListedIssueRow>> {
  const { project, state, query, actor } = list
  const { order_by: order = 'created_at', sort: direction = 'desc' } = query
  const seesAll = (counts: IssueCounts) => counts.confidential === 0 || seesConfidential(project, actor)
  const totalOf = async (counts: IssueCounts) =>
    seesAll(counts) ? counts.total : counts.total - counts.confidential + (await countNamed(project.id, state, actor))
  const read = async (reading: PlacedReading) => {
    const ids = idsOf(sources, order, reading)
    const items = await readRows<CountedRow>(ids, reading.direction, actor, {
      sql: `, ${KEPT_COUNTS} as counts`,
      values: [project.id]
    })
    return { items, counts: items[0] && readCounts(items[0].counts, state) }
  }
  const part = window(query)
  const { page, perPage, sql } = part
  if (!isFar(part)) {
    const { items, counts } = await read({ direction, sql, until: page * perPage })
    return { items, total: await totalOf(counts ?? (await issueCounts(project.id, state))), page, perPage }
  }
  const counts = await issueCounts(project.id, state)
  // Each change of an issue moves it in the order of changes, and no stored count records that.
  if (order !== 'created_at' || !seesAll(counts)) return pageOf(sources, list, totalOf(counts))
  const key = JSON.stringify(sources)
  return pageOfSteady(part, { key, direction, counts, read, placed: placedBy(order) })
}

/** Returns the number of confidential issues that name the caller as author or assignee. */
async function countNamed(projectId: number, state: State, { user }: Actor): Promise<number> {
  const id = user?.id ?? 0
  const of = {
    sql: 'i.project_id = ? and i.confidential and (i.author_id = ? or i.assignee_id = ?)',
    values: [projectId, id, id]
  }
  const { sql, values } = and(of, inState(state))
  return (await row<{ total: number }>(`select count(*) as total from issues i where ${sql}`, values))?.total ?? 0
}
