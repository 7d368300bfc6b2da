// Lists of the issues that a user created or has to work on, in the projects that the user may see.
import type { Actor } from '../../../access/actor.js'
import { visibleProjects } from '../../../access/membership.js'
import { type Fragment, marks, rows } from '../../../db/connect/sql.js'
import { and } from '../../../db/lists/conditions.js'
import { countTotal, type Page } from '../../../db/lists/paginate.js'
import { hasTitle, titlesOfFilter } from '../labels/label-filter.js'
import { hasMilestone } from '../milestones/milestone-filter.js'
import {
  countSource,
  IN_PROJECTS,
  inState,
  type List,
  orderOf,
  type Plan,
  pageByPlan,
  type Source
} from './issue-pages.queries.js'
import type { ListedIssueRow } from './issues.queries.js'
import type { OwnIssueSearch } from './issues.schema.js'

interface OwnList extends List {
  readonly author: number
  /** Whether the issues are those that the caller has to work on. */
  readonly isAssigned: boolean
  readonly made: Fragment
  readonly state: Fragment | undefined
  readonly visible: Fragment
  /** The conditions on labels and milestone; undefined without these filters. */
  readonly filters: Fragment | undefined
  /** The labels of the filter, when the page can be merged from their links. */
  readonly labels: readonly number[] | undefined
}

/** The ways to read the issues of an author, by the filters of the list. The first plan that fits is used. */
const PLANS: readonly Plan<OwnList>[] = [
  // With labels, sorted by creation: the links of each label are in that order.
  { fits: list => list.labels !== undefined, sources: linksOfLabels, count: countLinks },
  // With labels or a milestone: the database chooses an index, and sorts the issues.
  { fits: list => list.filters !== undefined, sources: inProjects, count: countInProjects },
  // Sorted by change, or those of an assignee: no index contains them in that order.
  { fits: list => list.isAssigned || orderOf(list.query) === 'updated', sources: inProjects, count: countByProject },
  { fits: () => true, sources: inOrder, count: countByProject }
]

/** The same for a list without a total. */
const UNCOUNTED: readonly Plan<OwnList>[] = PLANS.map(plan => ({ ...plan, count: async () => 0 }))

/** Returns a page of the issues that the caller created or has to work on, in the projects that the caller may see. */
export const listOwnIssues = async (query: OwnIssueSearch, actor: Actor): Promise<Page<ListedIssueRow>> =>
  pageByPlan(PLANS, await ownList(query, actor))

/** Returns only the issues of such a page. */
export const firstOwnIssues = async (query: OwnIssueSearch, actor: Actor): Promise<readonly ListedIssueRow[]> =>
  (await pageByPlan(UNCOUNTED, await ownList(query, actor))).items

async function ownList(query: OwnIssueSearch, actor: Actor): Promise<OwnList> {
  const titles = titlesOfFilter(query.labels)
  const author = actor.user?.id ?? 0
  const isAssigned = query.scope === 'assigned'
  const byLabels = !isAssigned && titles.length > 0 && !query.milestone && orderOf(query) === 'created'
  const filters = [
    ...(titles.length > 0 ? [hasTitle('Issue', 'i', titles)] : []),
    ...(query.milestone ? [hasMilestone('i', query.milestone)] : [])
  ]
  return {
    query,
    actor,
    author,
    isAssigned,
    made: { sql: `i.${isAssigned ? 'assignee_id' : 'author_id'} = ?`, values: [author] },
    state: inState(query.state ?? 'all'),
    visible: and({ sql: 'p.issues_enabled', values: [] }, visibleProjects(actor)),
    filters: filters.length > 0 ? and(...filters) : undefined,
    labels: byLabels ? await labelsOfAuthor(author, titles) : undefined
  }
}

function inProjects({ made, visible, state, filters }: OwnList): [Source] {
  return [{ from: IN_PROJECTS, where: and(made, visible, state, filters) }]
}

function countInProjects(list: OwnList): Promise<number> {
  return countSource(inProjects(list))
}

/** Does not join the projects: the database would sort all of its rows. */
function inOrder({ made, state, visible }: OwnList): [Source] {
  return [{ from: 'issues i force index (issues_author)', where: and(made, state, inVisible('i.project_id', visible)) }]
}

/** An index contains the numbers by project, so the statement reads only the projects. */
function countByProject({ made, state, visible }: OwnList): Promise<number> {
  const mine = and(made, state)
  return countTotal(
    `select cast(coalesce(sum(x.issues), 0) as signed) as total from
       (select i.project_id, count(*) as issues from issues i where ${mine.sql} group by i.project_id) x
       straight_join projects p on p.id = x.project_id where ${visible.sql}`,
    [...mine.values, ...visible.values]
  )
}

const inVisible = (column: string, visible: Fragment): Fragment => ({
  sql: `0 < (select count(*) from projects p where p.id = ${column} and ${visible.sql})`,
  values: visible.values
})

/** The maximum number of labels from whose links a page is merged. A title may name one label in each project. */
const MOST_SOURCES = 100

/** The maximum number of labels with the titles of a filter that are examined: each takes a step in an index. */
const MOST_LABELS = 1000

/**
 * Returns the labels with these titles that issues of an author have; undefined when they are too many, or when too
 * many labels have such a title. It does not start from the labels of the author: the database jumps from label to
 * label only when it executes that statement for the first time.
 */
async function labelsOfAuthor(author: number, titles: readonly string[]): Promise<number[] | undefined> {
  const found = await rows<{ id: number; used: number }>(
    `select l.id, exists (select 1 from label_links k force index (label_links_author)
       where k.of_author = ? and k.target_type = 'Issue' and k.label_id = l.id) as used
     from labels l where l.title in (${marks(titles)}) limit ${MOST_LABELS + 1}`,
    [author, ...titles]
  )
  const used = found.flatMap(label => (label.used === 1 ? [label.id] : [])).sort((a, b) => a - b)
  return found.length > MOST_LABELS || used.length > MOST_SOURCES ? undefined : used
}

const LINKS = 'label_links k force index (label_links_author)'

/** Returns the links of each label, in the order in which the issues were created. */
function linksOfLabels({ labels = [], author, state, visible }: OwnList): Source[] {
  return labels.map(label => ({
    from: state ? `${LINKS} straight_join issues i on i.id = k.target_id` : LINKS,
    where: and(
      { sql: "k.of_author = ? and k.target_type = 'Issue' and k.label_id = ?", values: [author, label] },
      state,
      inVisible('k.of_project', visible)
    ),
    at: 'k.of_created_at',
    id: 'k.target_id',
    shares: true
  }))
}

function countLinks({ labels = [], author, state, visible }: OwnList): Promise<number> {
  if (labels.length === 0) return Promise.resolve(0)
  const { sql, values } = and(visible, state)
  return countTotal(
    `select count(*) as total from (select distinct k.target_id as id, k.of_project from ${LINKS}
       where k.of_author = ? and k.target_type = 'Issue' and k.label_id in (${marks(labels)})) f
     straight_join projects p on p.id = f.of_project ${state ? 'straight_join issues i on i.id = f.id' : ''} where ${sql}`,
    [author, ...labels, ...values]
  )
}
