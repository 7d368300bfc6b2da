// Pipelines as a sysadmin lists them, of all projects. The lists of the API are in pipelines.queries.ts.
import { PART } from '../../db/paginate.js'
import { row, rows, type Value } from '../../db/sql.js'
import { NotFound } from '../../errors.js'

export interface DescribedPipeline {
  readonly id: number
  readonly project_id: number
  /** NAMESPACE/PROJECT; null while the pipelines of a removed project are being removed. */
  readonly project: string | null
  readonly ref: string
  readonly tag: number
  readonly sha: string
  readonly status: string
  readonly source: string
  readonly username: string | null
  readonly yaml_errors: string | null
  readonly duration: number | null
  readonly created_at: Date
  readonly started_at: Date | null
  readonly finished_at: Date | null
}

export interface PipelineFilter {
  readonly projectId?: number
  readonly statuses?: readonly string[]
  readonly ref?: string
}

const SELECT = `select l.id, l.project_id, concat(n.path, '/', p.path) as project, l.ref, l.tag, l.sha, l.status, l.source,
  u.username, l.yaml_errors, l.duration, l.created_at, l.started_at, l.finished_at`
const JOINS = `left join projects p on p.id = l.project_id left join namespaces n on n.id = p.namespace_id
  left join users u on u.id = l.user_id`

/** Finds a pipeline of any project. Throws NotFound. */
export async function requireDescribedPipeline(id: number): Promise<DescribedPipeline> {
  const found = await row<DescribedPipeline>(`${SELECT} from pipelines l ${JOINS} where l.id = ?`, [id])
  if (!found) throw new NotFound('Pipeline')
  return found
}

/** The newest pipelines that pass a filter, at most `limit`, and how many there are. */
export async function listDescribedPipelines(filter: PipelineFilter, limit: number) {
  const { where, values } = conditionOf(filter)
  const [items, found] = await Promise.all([
    describedPipelinesBefore(filter, undefined, limit),
    row<{ total: number }>(`select count(*) as total from pipelines l where ${where}`, values)
  ])
  return { items, total: Number(found?.total ?? 0) }
}

/** The next pipelines of such a list, newest first, after the pipeline `last`. */
export function describedPipelinesBefore(
  filter: PipelineFilter,
  last: number = Number.MAX_SAFE_INTEGER,
  most = PART
): Promise<DescribedPipeline[]> {
  const { where, values } = conditionOf(filter)
  return rows<DescribedPipeline>(
    `${SELECT} from (select l.id from pipelines l where ${where} and l.id < ?
       order by l.id desc limit ${Math.trunc(most)}) page
     join pipelines l on l.id = page.id ${JOINS} order by l.id desc`,
    [...values, last]
  )
}

function conditionOf({ projectId, statuses = [], ref }: PipelineFilter): { where: string; values: Value[] } {
  const conditions: [sql: string, ...values: Value[]][] = [['1 = 1']]
  if (projectId !== undefined) conditions.push(['l.project_id = ?', projectId])
  if (statuses.length > 0) conditions.push([`l.status in (${statuses.map(() => '?').join(', ')})`, ...statuses])
  if (ref !== undefined) conditions.push(['l.ref = ?', ref])
  return {
    where: conditions.map(([sql]) => sql).join(' and '),
    values: conditions.flatMap(([, ...values]) => values)
  }
}

/** The record of a pipeline that commands print with --json. */
export const viewDescribedPipeline = ({ tag, username, ...pipeline }: DescribedPipeline) => ({
  ...pipeline,
  tag: tag === 1,
  user: username
})
