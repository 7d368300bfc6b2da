// Lists of the issues of a group. No index contains the issues of several projects in order, so a page is merged from
// the first issues of each project, if the group has few projects and the page is near the start.
import type { Actor } from '../../../access/actor.js'
import { type Fragment, visibleProjects } from '../../../access/membership.js'
import { rows } from '../../../db/connect/sql.js'
import { and } from '../../../db/lists/conditions.js'
import { type Page, window } from '../../../db/lists/paginate.js'
import { hasTitle, titlesOfFilter } from '../labels/label-filter.js'
import { hasMilestone } from '../milestones/milestone-filter.js'
import type { State } from './issue-counts.js'
import {
  countSource,
  IN_PROJECTS,
  inOrderOf,
  inState,
  type List,
  type Plan,
  pageByPlan,
  type Source
} from './issue-pages.queries.js'
import { type ListedIssueRow, readableIssues } from './issues.queries.js'
import type { IssueListQuery } from './issues.schema.js'

/** Pages are merged from the issues of at most MOST_PROJECTS projects, and up to place FARTHEST of the list. */
const MOST_PROJECTS = 64
const FARTHEST = 500

interface CountedProject {
  readonly id: number
  readonly open: number
  readonly secret: number
}

interface GroupList extends List {
  readonly state: State
  /** The condition that selects the projects. */
  readonly places: Fragment
  /** The condition that selects the issues. */
  readonly issues: Fragment
  /** The projects with their stored counts; undefined with filters that the counts do not cover. */
  readonly projects: readonly CountedProject[] | undefined
}

/** The ways to read the issues of a group. The first plan that fits is used. */
const PLANS: readonly Plan<GroupList>[] = [
  // With labels or a milestone, or in many projects: the database chooses an index, and sorts the issues.
  { fits: ({ projects }) => !projects || projects.length > MOST_PROJECTS, sources: inProjects, count: countInProjects },
  // A far page: the same, but the total is the sum of the stored counts of the projects.
  { fits: ({ query }) => lastOf(query) > FARTHEST, sources: inProjects, count: countKept },
  // Merges the first issues of each project, which an index contains in order.
  { fits: () => true, sources: ofEach, count: countKept }
]

/** Returns a page of the issues that the caller may see in the projects of a group. */
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
  const projects = filters.length > 0 ? undefined : await countedProjects(places, state)
  const issues = and(inState(state), ...filters, readableIssues(actor))
  return pageByPlan(PLANS, { query, actor, state, places, issues, projects })
}

const lastOf = (query: IssueListQuery) => {
  const { page, perPage } = window(query)
  return page * perPage
}

function inProjects({ places, issues }: GroupList): [Source] {
  return [{ from: IN_PROJECTS, where: and(places, issues) }]
}

function countInProjects(list: GroupList): Promise<number> {
  return countSource(inProjects(list))
}

/** Returns the projects with their stored counts: at most one more than a page is merged from. */
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

/** Counts the confidential issues that the caller may see, but only if there are confidential ones. */
async function countKept({ projects = [], places, issues }: GroupList): Promise<number> {
  const open = projects.reduce((sum, project) => sum + project.open - project.secret, 0)
  if (projects.every(({ secret }) => secret === 0)) return open
  const where = and(places, issues, { sql: 'i.confidential', values: [] })
  return open + (await countSource([{ from: IN_PROJECTS, where }]))
}

/** Returns a source for each project, with its issues in order. */
function ofEach({ projects = [], state, query, issues }: GroupList): Source[] {
  const from = inOrderOf(state, query)
  // The number of sources is a power of two, so that few statements are prepared. No project has the id 0.
  const size = 2 ** Math.ceil(Math.log2(Math.max(projects.length, 1)))
  const ids = [...projects.map(({ id }) => id), ...Array.from({ length: size - projects.length }, () => 0)]
  return ids.map(id => ({ from, where: and({ sql: 'i.project_id = ?', values: [id] }, issues) }))
}
