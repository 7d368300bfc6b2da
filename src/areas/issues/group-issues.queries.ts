// Lists of the issues of a group. No index has the issues of several projects in order, so a page is put together from the
// first issues of each project, as long as the group has few projects and the page is not far.
import type { Actor } from '../../access/actor.js'
import { type Fragment, visibleProjects } from '../../access/membership.js'
import { countTotal, type Page, window } from '../../db/paginate.js'
import { rows } from '../../db/sql.js'
import { hasTitle, titlesOfFilter } from '../labels/label-filter.js'
import { hasMilestone } from '../milestones/milestone-filter.js'
import { IN_PROJECTS } from './issue-list.queries.js'
import { and, countAll, inState, listOf, orderOf, type Source } from './issue-pages.queries.js'
import { type ListedIssueRow, readableIssues } from './issues.queries.js'
import type { IssueListQuery } from './issues.schema.js'

/** Projects of a page that is put together, and issues of each. */
const MOST_PROJECTS = 64
const FARTHEST = 500

interface CountedProject {
  readonly id: number
  readonly open: number
  readonly secret: number
}

/** A page of the issues of the projects of a group that the asker may see. */
export async function listGroupIssues(
  groupId: number,
  query: IssueListQuery,
  actor: Actor
): Promise<Page<ListedIssueRow>> {
  const { state = 'opened', milestone } = query
  const places = and({ sql: 'p.namespace_id = ? and p.issues_enabled', values: [groupId] }, visibleProjects(actor))
  const filters = [
    ...titlesOfFilter(query.labels).map(title => hasTitle('Issue', 'i', [title])),
    ...(milestone ? [hasMilestone('i', milestone)] : [])
  ]
  const readable = readableIssues(actor)
  const where = and(places, inState(state), ...filters, readable)
  const { page, perPage } = window(query)
  const all = () => listOf([{ from: IN_PROJECTS, where }], query, actor, countAll(IN_PROJECTS, where))
  if (filters.length > 0) return all()
  const projects = await countedProjects(places, state)
  if (projects.length > MOST_PROJECTS) return all()
  const count = countOf(projects, and(places, inState(state), readable))
  if (page * perPage > FARTHEST) return listOf([{ from: IN_PROJECTS, where }], query, actor, count)
  return listOf(ofEach(projects, query, and(inState(state), readable)), query, actor, count)
}

/** The projects, at most one more than a page is put together from, with their kept numbers. */
function countedProjects({ sql, values }: Fragment, state: NonNullable<IssueListQuery['state']>) {
  const column = (suffix: string) => (state === 'all' ? `c.opened${suffix} + c.closed${suffix}` : `c.${state}${suffix}`)
  const sum = (suffix: string) => `cast(coalesce(sum(${column(suffix)}), 0) as signed)`
  return rows<CountedProject>(
    `select p.id, ${sum('')} as open, ${sum('_confidential')} as secret
     from (select p.id from projects p where ${sql} limit ${MOST_PROJECTS + 1}) p
     left join issue_counts c on c.project_id = p.id group by p.id`,
    values
  )
}

/** Counts the confidential ones that the asker may see, and only if there are any. */
async function countOf(projects: readonly CountedProject[], { sql, values }: Fragment): Promise<number> {
  const open = projects.reduce((sum, project) => sum + project.open - project.secret, 0)
  if (projects.every(({ secret }) => secret === 0)) return open
  return (
    open + (await countTotal(`select count(*) as total from ${IN_PROJECTS} where ${sql} and i.confidential`, values))
  )
}

/** The issues of each project, in order. */
function ofEach(projects: readonly CountedProject[], query: IssueListQuery, where: Fragment): Source[] {
  const from = `issues i force index (issues${(query.state ?? 'opened') === 'all' ? '' : '_open'}_${orderOf(query)})`
  // A power of two, so that few statements are prepared. No project has the number 0.
  const size = 2 ** Math.ceil(Math.log2(Math.max(projects.length, 1)))
  const ids = [...projects.map(({ id }) => id), ...Array.from({ length: size - projects.length }, () => 0)]
  return ids.map(id => ({ from, where: and({ sql: 'i.project_id = ?', values: [id] }, where) }))
}
