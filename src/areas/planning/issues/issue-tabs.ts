// Lists of issues with the numbers of open and closed ones, for the tabs of pages.
import type { Page } from '../../../db/lists/paginate.js'
import type { State } from './issue-counts.js'
import type { ListedIssueRow } from './issues.queries.js'

const STATES = ['opened', 'closed', 'all'] as const

/** A page of issues in one state, and how many there are in each. */
export interface IssueTabs extends Page<ListedIssueRow> {
  readonly state: State
  readonly counts: Readonly<Record<State, number>>
}

interface TabQuery {
  readonly state?: State
  readonly page?: number
  readonly per_page?: number
}

/** Reads a page of a list by its query, open issues by default, and the totals of the same list in the other states. */
export async function withTabs<Query extends TabQuery>(
  query: Query,
  list: (query: Query) => Promise<Page<ListedIssueRow>>
): Promise<IssueTabs> {
  const { state = 'opened' } = query
  const pages = await Promise.all(
    STATES.map(each => list(each === state ? { ...query, state } : { ...query, state: each, page: 1, per_page: 1 }))
  )
  const total = (each: State) => pages[STATES.indexOf(each)]?.total ?? 0
  const page = pages[STATES.indexOf(state)]
  if (!page) throw new Error(`no list of ${state} issues`)
  return { ...page, state, counts: { opened: total('opened'), closed: total('closed'), all: total('all') } }
}
