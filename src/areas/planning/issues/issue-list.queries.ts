// Lists of the issues of a project and of a milestone. issue-pages.queries.ts reads their pages.
import type { Actor } from '../../../access/actor.js'
import { type Fragment, marks, padded, rows } from '../../../db/connect/sql.js'
import { ALL, and, contains, equals, isIn } from '../../../db/lists/conditions.js'
import { countTotal, type Page, window } from '../../../db/lists/paginate.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { hasLabel, titlesOfFilter } from '../labels/label-filter.js'
import { findLabels } from '../labels/labels.queries.js'
import { NO_MILESTONE } from '../milestones/milestone-filter.js'
import { findMilestoneByTitle } from '../milestones/milestones.queries.js'
import { SEARCHED } from '../participation/text-search.queries.js'
import { visibleIssues } from '../participation/visible-issues.js'
import { issueCounts } from './issue-counts.js'
import {
  countSource,
  inOrderOf,
  inState,
  orderOf,
  type Plan,
  type ProjectList,
  pageByPlan,
  pageOf,
  pageWithKeptCounts,
  type Source
} from './issue-pages.queries.js'
import type { ListedIssueRow } from './issues.queries.js'
import type { IssueListQuery, IssueSearch } from './issues.schema.js'

interface FilteredList extends ProjectList {
  /** The ids of the labels in the filter; undefined without this filter. */
  readonly labels: readonly number[] | undefined
  /** Whether the filter contains a milestone or "no milestone". */
  readonly byMilestone: boolean
  /** Whether the filter contains numbers, or a milestone of the project. */
  readonly isNarrow: boolean
  /** The conditions other than the project and the labels. */
  readonly others: Fragment
  /** Counts the issues that pass the filters, by the links of the labels, and at most once. */
  readonly countLinked: () => Promise<number>
}

/** The ways to read the issues of a project, by the filters of the list. The first plan that fits is used. */
const PLANS: readonly Plan<FilteredList>[] = [
  // Filtered only by state.
  { fits: list => !list.labels && !list.byMilestone && !list.isNarrow, sources: inOrder, page: pageWithKeptCounts },
  // Few issues: the database chooses an index, and sorts them.
  { fits: list => list.isNarrow, sources: fewIssues, count: countFound },
  // For issues without a milestone, or with one that the project does not have.
  { fits: list => !list.labels, sources: inOrder, count: countFound },
  // With labels, sorted by creation: the links of each label are in that order.
  { fits: list => orderOf(list.query) === 'created', sources: linksOfLabels, count: countLinks },
  // With labels, sorted by change: no index contains these issues in that order.
  { fits: costsLessToSort, sources: linkedIssues, count: list => list.countLinked() },
  { fits: () => true, sources: inOrder, count: list => list.countLinked() }
]

/** Returns a page of the issues of a project that the caller may see. */
export async function listProjectIssues(
  project: ProjectRow,
  query: IssueSearch,
  actor: Actor
): Promise<Page<ListedIssueRow>> {
  const { state = 'all', iid, milestone, search, author, assignee } = query
  const titles = titlesOfFilter(query.labels)
  const [known, step] = await Promise.all([
    findLabels(project, titles),
    milestone && milestone !== NO_MILESTONE ? findMilestoneByTitle(project.id, milestone) : undefined
  ])
  const none = { sql: milestone === NO_MILESTONE ? 'i.milestone_id is null' : 'false', values: [] }
  let total: Promise<number> | undefined
  const list: FilteredList = {
    project,
    state,
    query,
    actor,
    labels: titles.length > 0 ? [...known.values()].map(({ id }) => id) : undefined,
    byMilestone: Boolean(milestone),
    isNarrow: Boolean(iid || step || search || author || assignee),
    others: and(
      inState(state),
      visibleIssues(project, actor),
      milestone ? (equals('i.milestone_id', step?.id) ?? none) : undefined,
      isIn('i.iid', iid),
      search ? and(contains(['i.title'], search), newest(project)) : undefined,
      author ? isUser('i.author_id', author) : undefined,
      assignee ? isUser('i.assignee_id', assignee) : undefined
    ),
    countLinked: () => (total ??= countSource(linkedIssues(list)))
  }
  return pageByPlan(PLANS, list)
}

/** A search reads the titles of the newest issues of the project only, so that its time has a limit. */
const newest = ({ id }: ProjectRow): Fragment => ({
  sql: `i.iid > (select coalesce(max(x.iid), 0) - ${SEARCHED} from issues x where x.project_id = ?)`,
  values: [id]
})

const isUser = (column: string, username: string): Fragment => ({
  sql: `${column} = (select u.id from users u where u.username_key = lower(?))`,
  values: [username]
})

const ofProject = ({ project }: FilteredList) => equals('i.project_id', project.id)

function countFound(list: FilteredList): Promise<number> {
  return countSource(fewIssues(list))
}

/** Reads the issues that pass the filters from the index that contains the issues of a project in the order of the list. */
function inOrder(list: FilteredList): [Source] {
  const { state, query, labels, others } = list
  return [
    {
      from: inOrderOf(state, query),
      where: and(ofProject(list), others, labels && hasLabel('Issue', 'i', labels, { scanned: true }))
    }
  ]
}

function fewIssues(list: FilteredList): [Source] {
  const { labels, others } = list
  return [{ from: 'issues i', where: and(ofProject(list), others, labels && hasLabel('Issue', 'i', labels)) }]
}

const LINKS = 'label_links k force index (label_links_place)'

/** Returns the links of each label, in the order in which the issues were created. */
function linksOfLabels({ labels = [], project, others }: FilteredList): Source[] {
  return labels.map(label => {
    const linked = {
      sql: "k.label_id = ? and k.target_type = 'Issue' and k.of_project = ?",
      values: [label, project.id]
    }
    return {
      // Without other conditions, the index contains everything that the statement needs.
      from: others === ALL ? LINKS : `${LINKS} straight_join issues i on i.id = k.target_id`,
      where: and(linked, others),
      at: 'k.of_created_at',
      id: 'k.target_id',
      shares: true
    }
  })
}

function countLinks({ labels = [], project, others }: FilteredList): Promise<number> {
  if (labels.length === 0) return Promise.resolve(0)
  const joined = others === ALL ? '' : 'straight_join issues i on i.id = k.target_id'
  return countTotal(
    `select count(${labels.length === 1 ? '*' : 'distinct k.target_id'}) as total from ${LINKS} ${joined}
     where k.label_id in (${marks(labels)}) and k.target_type = 'Issue' and k.of_project = ? and ${others.sql}`,
    [...labels, project.id, ...others.values]
  )
}

/** Returns the issues that have one of the labels, each once: finds them by the labels, then by their ids. */
function linkedIssues(list: FilteredList): [Source] {
  const { labels = [], others } = list
  const from =
    labels.length === 1
      ? `${LINKS} straight_join issues i on i.id = k.target_id and k.target_type = 'Issue' and k.label_id = ?`
      : `(select distinct k.target_id as id from label_links k
          where k.target_type = 'Issue' and k.label_id in (${marks(labels)})) f straight_join issues i on i.id = f.id`
  const { sql, values } = and(ofProject(list), others)
  return [{ from, where: { sql, values: [...labels, ...values] } }]
}

/** Up to this number, issues are always sorted: that takes less than a millisecond. */
const SORTED_AT_ONCE = 200

/**
 * Whether it costs less to find and sort all issues that pass the filters than to walk through the issues of the
 * project in order until a page is full. One in every `all / total` issues of the walk passes.
 */
async function costsLessToSort({ project, state, query, countLinked }: FilteredList): Promise<boolean> {
  const total = await countLinked()
  if (total < SORTED_AT_ONCE) return true
  const { page, perPage } = window(query)
  return (page * perPage * (await issueCounts(project.id, state)).total) / total > total
}

/** Returns a page of the issues of a milestone that the caller may see. */
export function listMilestoneIssues(
  project: ProjectRow,
  milestoneId: number,
  query: Pick<IssueListQuery, 'page' | 'per_page'>,
  actor: Actor
): Promise<Page<ListedIssueRow>> {
  const where = and(equals('i.milestone_id', milestoneId), visibleIssues(project, actor))
  const source: [Source] = [{ from: 'issues i', where }]
  return pageOf(source, { query, actor }, countSource(source))
}

interface MilestoneCount {
  readonly id: number
  readonly open: number
  readonly closed: number
}

/** Counts the issues of milestones of a project that the caller may see. */
export async function countMilestoneIssues(
  project: ProjectRow,
  milestoneIds: readonly number[],
  actor: Actor
): Promise<ReadonlyMap<number, MilestoneCount>> {
  if (milestoneIds.length === 0) return new Map()
  const list = padded(milestoneIds)
  const visible = visibleIssues(project, actor)
  const found = await rows<MilestoneCount>(
    `select i.milestone_id as id, cast(sum(i.is_open) as signed) as open, cast(sum(not i.is_open) as signed) as closed
     from issues i where i.milestone_id in (${marks(list)}) and ${visible.sql} group by i.milestone_id`,
    [...list, ...visible.values]
  )
  return new Map(found.map(count => [count.id, count]))
}
