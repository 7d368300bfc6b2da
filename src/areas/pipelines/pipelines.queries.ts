import { countTotal, type Page, type PageRequest, window } from '../../db/paginate.js'
import { row, rows } from '../../db/sql.js'
import { NotFound } from '../../errors.js'
import { JOINED_USER, type JoinedUser } from '../users/joined-user.js'

export type PipelineRow = JoinedUser & PipelineColumns

interface PipelineColumns {
  readonly id: number
  readonly status: string
  readonly ref: string
  readonly sha: string
  readonly before_sha: string
  readonly tag: number
  readonly yaml_errors: string | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly started_at: Date | null
  readonly finished_at: Date | null
  readonly committed_at: Date | null
  readonly duration: number | null
  readonly coverage: number | null
}

const SELECT = `select l.id, l.status, l.ref, l.sha, l.before_sha, l.tag, l.yaml_errors, l.created_at, l.updated_at,
  l.started_at, l.finished_at, l.committed_at, l.duration, l.coverage, ${JOINED_USER}
  from pipelines l left join users u on u.id = l.user_id`

/** Finds a pipeline of a project. Throws NotFound. */
export async function requirePipeline(projectId: number, id: number): Promise<PipelineRow> {
  const found = await row<PipelineRow>(`${SELECT} where l.id = ? and l.project_id = ?`, [id, projectId])
  if (!found) throw new NotFound()
  return found
}

export type PipelineScope = 'running' | 'branches' | 'tags'

/** Returns a page of pipelines, newest first. */
export async function listPipelines(
  projectId: number,
  query: PageRequest & { scope?: PipelineScope }
): Promise<Page<PipelineRow>> {
  const { page, perPage, sql } = window(query)
  const where = `l.project_id = ?${scopeCondition(query.scope)}`
  const [total, items] = await Promise.all([
    countTotal(`select count(*) as total from pipelines l where ${where}`, [projectId]),
    rows<PipelineRow>(`${SELECT} where ${where} order by l.id desc ${sql}`, [projectId])
  ])
  return { items, total, page, perPage }
}

function scopeCondition(scope: PipelineScope | undefined): string {
  if (scope === 'running') return " and l.status = 'running'"
  if (scope === undefined) return ''
  // Not specified except for the names: these scopes select the newest pipeline of each branch or tag.
  return ` and l.id in (select max(m.id) from pipelines m where m.project_id = l.project_id
    and m.is_child = false and m.tag = ${scope === 'tags' ? 1 : 0} group by m.ref)`
}
