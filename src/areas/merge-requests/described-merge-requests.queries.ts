// Merge requests as a sysadmin lists them, of all projects. The lists of the API are in merge-requests.queries.ts.
import { PART } from '../../db/paginate.js'
import { row, rows, type Value } from '../../db/sql.js'
import { NotFound } from '../../errors.js'

export interface DescribedMergeRequest {
  readonly id: number
  readonly project_id: number
  /** NAMESPACE/PROJECT. */
  readonly project: string
  readonly number: number
  readonly title: string
  readonly description: string | null
  readonly state: string
  readonly merge_status: string
  readonly source_project_id: number
  readonly source_branch: string
  readonly target_branch: string
  readonly sha: string | null
  readonly merge_commit_sha: string | null
  readonly merge_when_build_succeeds: number
  readonly author: string
  readonly assignee: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

export interface MergeRequestFilter {
  readonly projectId?: number
  readonly state: 'opened' | 'closed' | 'merged' | 'all'
}

const columnsWith = (description: string) => `select m.id, m.target_project_id as project_id,
  concat(n.path, '/', p.path) as project, m.iid as number, m.title, ${description} as description, m.state, m.merge_status,
  m.source_project_id, m.source_branch, m.target_branch, m.head_sha as sha, m.merge_commit_sha,
  m.merge_when_build_succeeds, a.username as author, s.username as assignee, m.created_at, m.updated_at`
const JOINS = `join projects p on p.id = m.target_project_id join namespaces n on n.id = p.namespace_id
  join users a on a.id = m.author_id left join users s on s.id = m.assignee_id`

/** Finds a merge request by its number in a project. Throws NotFound. */
export async function requireDescribedMergeRequest(projectId: number, number: number): Promise<DescribedMergeRequest> {
  const found = await row<DescribedMergeRequest>(
    `${columnsWith('m.description')} from merge_requests m ${JOINS}
     where m.target_project_id = ? and m.iid = ? and m.deleted_at is null`,
    [projectId, number]
  )
  if (!found) throw new NotFound('Merge request')
  return found
}

/** The newest merge requests that pass a filter, at most `limit`, and how many there are. */
export async function listDescribedMergeRequests(filter: MergeRequestFilter, limit: number) {
  const { where, values } = conditionOf(filter)
  const [items, found] = await Promise.all([
    describedMergeRequestsBefore(filter, undefined, limit),
    row<{ total: number }>(`select count(*) as total from merge_requests m where ${where}`, values)
  ])
  return { items, total: Number(found?.total ?? 0) }
}

/** The next merge requests of such a list, newest first, after the one with the id `last`; without descriptions. */
export function describedMergeRequestsBefore(
  filter: MergeRequestFilter,
  last: number = Number.MAX_SAFE_INTEGER,
  most = PART
): Promise<DescribedMergeRequest[]> {
  const { where, values } = conditionOf(filter)
  return rows<DescribedMergeRequest>(
    `${columnsWith('null')} from (select m.id from merge_requests m where ${where} and m.id < ?
       order by m.id desc limit ${Math.trunc(most)}) page
     join merge_requests m on m.id = page.id ${JOINS} order by m.id desc`,
    [...values, last]
  )
}

function conditionOf({ projectId, state }: MergeRequestFilter): { where: string; values: Value[] } {
  const ofState = state === 'all' ? 'm.deleted_at is null' : 'm.phase = ?'
  const ofProject = projectId === undefined ? '' : ' and m.target_project_id = ?'
  return {
    where: `${ofState}${ofProject}`,
    values: [...(state === 'all' ? [] : [state]), ...(projectId === undefined ? [] : [projectId])]
  }
}

/** The record of a merge request that commands print with --json; lists leave the description out. */
export const viewDescribedMergeRequest = ({ description, ...found }: DescribedMergeRequest) => ({
  ...found,
  merge_when_build_succeeds: found.merge_when_build_succeeds === 1,
  ...(description !== null && { description })
})
