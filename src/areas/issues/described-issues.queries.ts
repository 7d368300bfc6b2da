// Issues as a sysadmin lists them, of all projects. The lists of the API are in issue-list.queries.ts.
import { PART } from '../../db/paginate.js'
import { row, rows, type Value } from '../../db/sql.js'
import { NoSuch } from '../../errors.js'

export interface DescribedIssue {
  readonly id: number
  readonly project_id: number
  /** NAMESPACE/PROJECT; null while the issues of a removed project are being removed. */
  readonly project: string | null
  readonly number: number
  readonly title: string
  readonly state: string
  readonly confidential: number
  readonly author: string | null
  readonly assignee: string | null
  readonly milestone: string | null
  /** Titles with commas between them; null for none. */
  readonly labels: string | null
  readonly due_date: string | null
  readonly time_estimate: number
  readonly total_time_spent: number
  readonly created_at: Date
  readonly updated_at: Date
}

export interface IssueFilter {
  readonly projectId?: number
  readonly state?: 'opened' | 'closed' | 'all'
  /** Titles: an issue has all of them. */
  readonly labels?: readonly string[]
  /** The title of a milestone. */
  readonly milestone?: string
}

const SELECT = `select i.id, i.project_id, concat(n.path, '/', p.path) as project, i.iid as number, i.title, i.state, i.confidential,
  a.username as author, e.username as assignee, s.title as milestone,
  (select group_concat(l.title order by l.title separator ',') from label_links k join labels l on l.id = k.label_id
   where k.target_type = 'Issue' and k.target_id = i.id) as labels,
  date_format(i.due_date, '%Y-%m-%d') as due_date, i.time_estimate, i.total_time_spent, i.created_at, i.updated_at`
const JOINS = `left join projects p on p.id = i.project_id left join namespaces n on n.id = p.namespace_id
  left join users a on a.id = i.author_id left join users e on e.id = i.assignee_id
  left join milestones s on s.id = i.milestone_id`

/** Finds an issue by its number in a project, with its description. Throws NoSuch. */
export async function requireDescribedIssue(projectId: number, number: number) {
  const found = await row<DescribedIssue & { readonly description: string | null }>(
    `${SELECT}, i.description from issues i ${JOINS} where i.project_id = ? and i.iid = ?`,
    [projectId, number]
  )
  if (!found) throw new NoSuch('issue', number)
  return found
}

/** The newest issues that pass a filter, at most `limit`, and how many there are. */
export async function listDescribedIssues(filter: IssueFilter, limit: number) {
  const { where, values } = conditionOf(filter)
  const [items, found] = await Promise.all([
    describedIssuesBefore(filter, undefined, limit),
    row<{ total: number }>(`select count(*) as total from issues i where ${where}`, values)
  ])
  return { items, total: Number(found?.total ?? 0) }
}

/** The next issues of such a list, newest first, after the issue with the id `last`. */
export function describedIssuesBefore(
  filter: IssueFilter,
  last: number = Number.MAX_SAFE_INTEGER,
  most = PART
): Promise<DescribedIssue[]> {
  const { where, values } = conditionOf(filter)
  return rows<DescribedIssue>(
    `${SELECT} from (select i.id from issues i where ${where} and i.id < ? order by i.id desc limit ${Math.trunc(most)}) page
     join issues i on i.id = page.id ${JOINS} order by i.id desc`,
    [...values, last]
  )
}

function conditionOf({ projectId, state = 'opened', labels = [], milestone }: IssueFilter) {
  const conditions: [sql: string, ...values: Value[]][] = [['1 = 1']]
  if (projectId !== undefined) conditions.push(['i.project_id = ?', projectId])
  if (state !== 'all') conditions.push(['i.is_open = ?', state === 'opened'])
  for (const title of labels) {
    conditions.push([
      `exists (select 1 from label_links k join labels l on l.id = k.label_id
       where k.target_type = 'Issue' and k.target_id = i.id and l.title = ?)`,
      title
    ])
  }
  if (milestone !== undefined) {
    conditions.push(['i.milestone_id in (select s.id from milestones s where s.title = ?)', milestone])
  }
  return {
    where: conditions.map(([sql]) => sql).join(' and '),
    values: conditions.flatMap(([, ...values]) => values)
  }
}

/** The record of an issue that commands print with --json. */
export const viewDescribedIssue = <Row extends DescribedIssue>({ labels, confidential, ...issue }: Row) => ({
  ...issue,
  confidential: confidential === 1,
  labels: labels === null ? [] : labels.split(',')
})
