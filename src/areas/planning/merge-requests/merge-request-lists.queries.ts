// Lists of merge requests for pages: with the filters that people use, and those of one user in all projects.
import type { Actor } from '../../../access/actor.js'
import { visibleProjects } from '../../../access/membership.js'
import type { Fragment } from '../../../db/connect/sql.js'
import { and, contains, equals } from '../../../db/lists/conditions.js'
import type { Page } from '../../../db/lists/paginate.js'
import { REPORTER } from '../../../lib/levels.js'
import { hasTitle, titlesOfFilter } from '../labels/label-filter.js'
import { hasMilestone } from '../milestones/milestone-filter.js'
import {
  countMergeRequests,
  INDEXES,
  inState,
  type ListedMergeRequestRow,
  newestOf,
  pageOf
} from './merge-requests.queries.js'
import type { MergeRequestSearch, OwnMergeRequestQuery } from './merge-requests.schema.js'

/** The tabs of a list. */
const STATES = ['opened', 'merged', 'closed', 'all'] as const
type State = (typeof STATES)[number]

/** A page of merge requests in one state, and how many there are in each. */
export interface MergeRequestTabs extends Page<ListedMergeRequestRow> {
  readonly state: State
  readonly counts: Readonly<Record<State, number>>
}

/** Returns a page of the merge requests into a project that pass the filters; open ones unless the query says otherwise. */
export function searchMergeRequests(
  projectId: number,
  query: MergeRequestSearch,
  actor: Actor
): Promise<MergeRequestTabs> {
  const { state = 'opened', order_by: order = 'created_at', search, author, assignee, milestone } = query
  const titles = titlesOfFilter(query.labels)
  const filters = and(
    equals('m.target_project_id', projectId),
    search === undefined ? undefined : contains(['m.title'], search),
    author === undefined ? undefined : isUser('m.author_id', author),
    assignee === undefined ? undefined : isUser('m.assignee_id', assignee),
    titles.length > 0 ? hasTitle('MergeRequest', 'm', titles) : undefined,
    milestone === undefined ? undefined : hasMilestone('m', milestone)
  )
  return tabsOf(filters, { ...query, state }, actor, INDEXES[state === 'all' ? 'all' : 'one'][order])
}

const isUser = (column: string, username: string): Fragment => ({
  sql: `${column} = (select u.id from users u where u.username = ?)`,
  values: [username]
})

/** Returns a page of the merge requests that the caller created or has to work on, in projects whose merge requests the caller may read. */
export function listOwnMergeRequests(query: OwnMergeRequestQuery, actor: Actor): Promise<MergeRequestTabs> {
  const { state = 'opened', scope = 'created', order_by: order = 'created_at' } = query
  const index = scope === 'created' && order === 'created_at' ? BY_AUTHOR : undefined
  return tabsOf(ownOf(scope, actor), { ...query, state }, actor, index)
}

const BY_AUTHOR = 'merge_requests_author'

function ownOf(scope: 'created' | 'assigned', actor: Actor): Fragment {
  const visible = visibleProjects(actor, REPORTER)
  return and(equals(scope === 'created' ? 'm.author_id' : 'm.assignee_id', actor.user?.id ?? 0), {
    sql: `0 < (select count(*) from projects p where p.id = m.target_project_id and p.merge_requests_enabled and ${visible.sql})`,
    values: visible.values
  })
}

/** Returns the newest open merge requests that the caller created or has to work on, at most `most`. */
export async function newestOwnMergeRequests(most: number, actor: Actor): Promise<ListedMergeRequestRow[]> {
  const open = (scope: 'created' | 'assigned', index?: string) =>
    newestOf(and(ownOf(scope, actor), inState('opened')), most, actor, index)
  const [created, assigned] = await Promise.all([open('created', BY_AUTHOR), open('assigned')])
  const all = new Map([...created, ...assigned].map(row => [row.id, row]))
  return [...all.values()].sort((a, b) => b.created_at.getTime() - a.created_at.getTime()).slice(0, most)
}

async function tabsOf(
  filters: Fragment,
  query: OwnMergeRequestQuery & { readonly state: State },
  actor: Actor,
  index: string | undefined
): Promise<MergeRequestTabs> {
  const [page, ...totals] = await Promise.all([
    pageOf(and(filters, inState(query.state)), query, actor, index),
    ...STATES.map(state => countMergeRequests(and(filters, inState(state))))
  ])
  const counts = Object.fromEntries(STATES.map((state, at) => [state, totals[at] ?? 0])) as Record<State, number>
  return { ...page, state: query.state, counts }
}
