// Lists of issues: of a project, of a milestone, and those that a user has made. How a page is read is in issue-pages.queries.ts.
import type { Actor } from '../../access/actor.js'
import { type Fragment, visibleProjects } from '../../access/membership.js'
import { countTotal, type Page, window } from '../../db/paginate.js'
import { marks, rows } from '../../db/sql.js'
import { hasLabel, hasTitle, titlesOfFilter } from '../labels/label-filter.js'
import { findLabels } from '../labels/labels.queries.js'
import { hasMilestone, NO_MILESTONE } from '../milestones/milestone-filter.js'
import { findMilestoneByTitle } from '../milestones/milestones.queries.js'
import type { ProjectRow } from '../projects/projects.queries.js'
import { issueCounts } from './issue-counts.js'
import { ALL, and, countAll, inState, listOf, listOfProject, orderOf, type Source } from './issue-pages.queries.js'
import { type ListedIssueRow, visibleIssues } from './issues.queries.js'
import type { IssueListQuery } from './issues.schema.js'

/** A page of the issues of a project that the asker may see. */
export async function listProjectIssues(
  project: ProjectRow,
  query: IssueListQuery,
  actor: Actor
): Promise<Page<ListedIssueRow>> {
  const { state = 'all', iid, milestone } = query
  const titles = titlesOfFilter(query.labels)
  const [known, step] = await Promise.all([
    findLabels(project, titles),
    milestone && milestone !== NO_MILESTONE ? findMilestoneByTitle(project.id, milestone) : undefined
  ])
  const labels = [...known.values()].map(({ id }) => id)
  const of: Fragment = { sql: 'i.project_id = ?', values: [project.id] }
  const inOrder = `issues i force index (issues${state === 'all' ? '' : '_open'}_${orderOf(query)})`
  if (titles.length === 0 && !milestone && !iid) return listOfProject(project, inOrder, query, actor)
  const labelled = titles.length > 0 ? [hasLabel('Issue', 'i', labels)] : []
  const others = [
    inState(state),
    visibleIssues(project, actor),
    ...(milestone
      ? [{ sql: step ? 'i.milestone_id = ?' : (NONE[milestone] ?? 'false'), values: step ? [step.id] : [] }]
      : []),
    ...(iid ? [{ sql: `i.iid in (${marks(iid)})`, values: iid }] : [])
  ]
  const where = and(of, ...others, ...labelled)
  const plain: Source = { from: labelled.length > 0 || iid || step ? 'issues i' : inOrder, where }
  if (labelled.length === 0 || iid || step) return listOf([plain], query, actor, countAll('issues i', where))
  if (orderOf(query) === 'created') {
    const sources = labels.map(label => withLabel(label, { project: project.id, others }))
    return listOf(sources, query, actor, countWithLabels(labels, project.id, others))
  }
  // No index has what has a label by its change. The others hold for few more, so they do not change the choice.
  const found = withLabels(labels)
  const rest = and(of, ...others)
  const filtered = { sql: rest.sql, values: [...found.values, ...rest.values] }
  const total = countAll(found.sql, filtered)
  const all = async () => (await issueCounts(project.id, state)).total
  const few = await isFew(query, await total, all)
  return listOf(
    [few ? { from: found.sql, where: filtered } : { from: inOrder, where: ofScan(where) }],
    query,
    actor,
    total
  )
}

/** The issues of a project that have a label, in the order of their creation. */
function withLabel(label: number, { project, others }: { project: number; others: readonly Fragment[] }): Source {
  const linked = { sql: "k.label_id = ? and k.target_type = 'Issue' and k.of_project = ?", values: [label, project] }
  const rest = and(...others)
  const from = 'label_links k force index (label_links_place)'
  return {
    // Without other conditions the index has all that is asked.
    from: rest.sql === ALL.sql ? from : `${from} straight_join issues i on i.id = k.target_id`,
    where: and(linked, rest),
    at: 'k.of_created_at',
    id: 'k.target_id',
    shares: true
  }
}

function countWithLabels(labels: readonly number[], project: number, others: readonly Fragment[]): Promise<number> {
  if (labels.length === 0) return Promise.resolve(0)
  const rest = and(...others)
  const joined = rest.sql === ALL.sql ? '' : 'straight_join issues i on i.id = k.target_id'
  return countTotal(
    `select count(${labels.length === 1 ? '*' : 'distinct k.target_id'}) as total from label_links k force index (label_links_place) ${joined}
     where k.label_id in (${marks(labels)}) and k.target_type = 'Issue' and k.of_project = ? and ${rest.sql}`,
    [...labels, project, ...rest.values]
  )
}

/** The issues that have one of these labels, each once: found by the labels, then by their ids. */
const withLabels = (labels: readonly number[]): Fragment =>
  labels.length === 1
    ? {
        sql: `label_links k force index (label_links_place) straight_join issues i
          on i.id = k.target_id and k.target_type = 'Issue' and k.label_id = ?`,
        values: labels
      }
    : {
        sql: `(select distinct k.target_id as id from label_links k
          where k.target_type = 'Issue' and k.label_id in (${marks(labels)})) f straight_join issues i on i.id = f.id`,
        values: labels
      }

const NONE: { readonly [milestone: string]: string } = { [NO_MILESTONE]: 'i.milestone_id is null' }

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
  return listOf([{ from: 'issues i', where }], query, actor, countAll('issues i', where))
}

export const IN_PROJECTS = 'issues i join projects p on p.id = i.project_id'

/** A page of the issues that the asker has made, in the projects that the asker may see. */
export async function listOwnIssues(query: IssueListQuery, actor: Actor): Promise<Page<ListedIssueRow>> {
  const titles = titlesOfFilter(query.labels)
  const author = actor.user?.id ?? 0
  const made: Fragment = { sql: 'i.author_id = ?', values: [author] }
  const state = inState(query.state ?? 'all')
  const visible = and({ sql: 'p.issues_enabled', values: [] }, visibleProjects(actor))
  const inCreation = orderOf(query) === 'created'
  if (titles.length > 0 && !query.milestone && inCreation) {
    const labels = await labelsOfAuthor(author, titles)
    if (labels && labels.length <= MOST_SOURCES) {
      const sources = labels.map(label => ofAuthorWithLabel(label, { author, state, visible }))
      return listOf(sources, query, actor, countOfAuthor(labels, { author, state, visible }))
    }
  }
  const filters = [
    ...(titles.length > 0 ? [hasTitle('Issue', 'i', titles)] : []),
    ...(query.milestone ? [hasMilestone('i', query.milestone)] : [])
  ]
  const where = and(made, visible, state, ...filters)
  if (filters.length > 0) {
    return listOf([{ from: IN_PROJECTS, where }], query, actor, countAll(IN_PROJECTS, where))
  }
  const mine = and(made, state)
  // An index has the numbers by project, so that only the projects are read.
  const count = countTotal(
    `select cast(coalesce(sum(x.issues), 0) as signed) as total from
       (select i.project_id, count(*) as issues from issues i where ${mine.sql} group by i.project_id) x
       straight_join projects p on p.id = x.project_id where ${visible.sql}`,
    [...mine.values, ...visible.values]
  )
  if (!inCreation) return listOf([{ from: IN_PROJECTS, where }], query, actor, count)
  // Not a join: the database would sort all of its rows.
  const from = 'issues i force index (issues_author)'
  return listOf([{ from, where: and(mine, inVisible('i.project_id', visible)) }], query, actor, count)
}

const inVisible = (column: string, visible: Fragment): Fragment => ({
  sql: `0 < (select count(*) from projects p where p.id = ${column} and ${visible.sql})`,
  values: visible.values
})

/** A page is put together from so many labels at the most. A title may be that of a label in each project. */
const MOST_SOURCES = 100

/** Labels with the titles of a filter that are looked at: each takes a step in an index. */
const MOST_LABELS = 1000

/**
 * The labels with these titles that issues of an author have; undefined when too many have such a title. Not by the labels of the
 * author: the database jumps from label to label only when it executes that statement for the first time.
 */
async function labelsOfAuthor(author: number, titles: readonly string[]): Promise<number[] | undefined> {
  const found = await rows<{ id: number; used: number }>(
    `select l.id, exists (select 1 from label_links k force index (label_links_author)
       where k.of_author = ? and k.target_type = 'Issue' and k.label_id = l.id) as used
     from labels l where l.title in (${marks(titles)}) limit ${MOST_LABELS + 1}`,
    [author, ...titles]
  )
  if (found.length > MOST_LABELS) return undefined
  return found.flatMap(({ id, used }) => (used === 1 ? [id] : [])).sort((a, b) => a - b)
}

interface OfAuthor {
  readonly author: number
  readonly state: Fragment
  readonly visible: Fragment
}

function ofAuthorWithLabel(label: number, { author, state, visible }: OfAuthor): Source {
  const linked = { sql: "k.of_author = ? and k.target_type = 'Issue' and k.label_id = ?", values: [author, label] }
  const from = 'label_links k force index (label_links_author)'
  return {
    from: state === ALL ? from : `${from} straight_join issues i on i.id = k.target_id`,
    where: and(linked, state, inVisible('k.of_project', visible)),
    at: 'k.of_created_at',
    id: 'k.target_id',
    shares: true
  }
}

function countOfAuthor(labels: readonly number[], { author, state, visible }: OfAuthor): Promise<number> {
  if (labels.length === 0) return Promise.resolve(0)
  const joined = state === ALL ? '' : 'straight_join issues i on i.id = f.id'
  const rest = and(visible, state)
  return countTotal(
    `select count(*) as total from (select distinct k.target_id as id, k.of_project from label_links k force index (label_links_author)
       where k.of_author = ? and k.target_type = 'Issue' and k.label_id in (${marks(labels)})) f
     straight_join projects p on p.id = f.of_project ${joined} where ${rest.sql}`,
    [author, ...labels, ...rest.values]
  )
}
