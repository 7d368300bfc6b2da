// Builds as a sysadmin lists them, of all projects. The lists of the API are in builds.queries.ts.
import { PART } from '../../db/paginate.js'
import { row, rows, type Value } from '../../db/sql.js'
import { NotFound } from '../../errors.js'

export interface DescribedBuild {
  readonly id: number
  readonly pipeline_id: number
  readonly project_id: number
  /** NAMESPACE/PROJECT; null while the builds of a removed project are being removed. */
  readonly project: string | null
  readonly name: string
  readonly stage: string
  readonly ref: string
  readonly tag: number
  readonly sha: string
  readonly status: string
  readonly start_when: string
  readonly allow_failure: number
  readonly tag_list: string
  readonly attempt: number
  readonly failure_reason: string | null
  readonly exit_code: number | null
  readonly coverage: number | null
  readonly username: string | null
  readonly runner_id: number | null
  readonly runner: string | null
  readonly artifacts_size: number | null
  readonly artifacts_expire_at: Date | null
  readonly created_at: Date
  readonly queued_at: Date | null
  readonly started_at: Date | null
  readonly finished_at: Date | null
  readonly erased_at: Date | null
}

export interface BuildFilter {
  readonly projectId?: number
  readonly pipelineId?: number
  readonly statuses?: readonly string[]
  readonly ref?: string
}

const SELECT = `select b.id, b.pipeline_id, b.project_id, concat(n.path, '/', p.path) as project, b.name, b.stage, b.ref,
  b.tag, b.sha, b.status, b.start_when, b.allow_failure, b.tag_list, b.attempt, b.failure_reason, b.exit_code, b.coverage,
  u.username, b.runner_id, r.description as runner, b.artifacts_size, b.artifacts_expire_at, b.created_at, b.queued_at,
  b.started_at, b.finished_at, b.erased_at`
const JOINS = `left join projects p on p.id = b.project_id left join namespaces n on n.id = p.namespace_id
  left join users u on u.id = b.user_id left join runners r on r.id = b.runner_id`

/** Finds a build of any project. Throws NotFound. */
export async function requireDescribedBuild(id: number): Promise<DescribedBuild> {
  const found = await row<DescribedBuild>(`${SELECT} from builds b ${JOINS} where b.id = ?`, [id])
  if (!found) throw new NotFound('Build')
  return found
}

/** The newest builds that pass a filter, at most `limit`, and how many there are. */
export async function listDescribedBuilds(filter: BuildFilter, limit: number) {
  const { where, values } = conditionOf(filter)
  const [items, found] = await Promise.all([
    describedBuildsBefore(filter, undefined, limit),
    row<{ total: number }>(`select count(*) as total from builds b where ${where}`, values)
  ])
  return { items, total: Number(found?.total ?? 0) }
}

/** The next builds of such a list, newest first, after the build `last`. */
export function describedBuildsBefore(
  filter: BuildFilter,
  last: number = Number.MAX_SAFE_INTEGER,
  most = PART
): Promise<DescribedBuild[]> {
  const { where, values } = conditionOf(filter)
  return rows<DescribedBuild>(
    `${SELECT} from (select b.id from builds b where ${where} and b.id < ? order by b.id desc limit ${Math.trunc(most)}) page
     join builds b on b.id = page.id ${JOINS} order by b.id desc`,
    [...values, last]
  )
}

/** All builds of a pipeline, in the order of its stages. */
export const describedBuildsOf = (pipelineId: number): Promise<DescribedBuild[]> =>
  rows<DescribedBuild>(`${SELECT} from builds b ${JOINS} where b.pipeline_id = ? order by b.stage_index, b.id`, [
    pipelineId
  ])

function conditionOf({ projectId, pipelineId, statuses = [], ref }: BuildFilter): { where: string; values: Value[] } {
  const conditions: [sql: string, ...values: Value[]][] = [['1 = 1']]
  if (projectId !== undefined) conditions.push(['b.project_id = ?', projectId])
  if (pipelineId !== undefined) conditions.push(['b.pipeline_id = ?', pipelineId])
  if (statuses.length > 0) conditions.push([`b.status in (${statuses.map(() => '?').join(', ')})`, ...statuses])
  if (ref !== undefined) conditions.push(['b.ref = ?', ref])
  return {
    where: conditions.map(([sql]) => sql).join(' and '),
    values: conditions.flatMap(([, ...values]) => values)
  }
}

/** The record of a build that commands print with --json. */
export const viewDescribedBuild = ({
  tag,
  allow_failure,
  tag_list,
  username,
  start_when,
  ...build
}: DescribedBuild) => ({
  ...build,
  tag: tag === 1,
  when: start_when,
  allow_failure: allow_failure === 1,
  tag_list: JSON.parse(tag_list) as string[],
  user: username
})
