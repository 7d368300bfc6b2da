import { type Fragment, oldRows, row, rows } from '../../../db/connect/sql.js'
import { and, below, equals, isIn } from '../../../db/lists/conditions.js'
import { countGrowing, PIPELINES } from '../../../db/lists/count-cache.js'
import { fromId } from '../../../db/lists/keyset-cache.js'
import { countTotal, isFar, PART, type Page, type PageRequest, pageOfIds, window } from '../../../db/lists/paginate.js'
import { NotFound } from '../../../errors.js'
import { JOINED_USER, type JoinedUser } from '../../people/users/joined-user.js'

export type PipelineRow = JoinedUser & PipelineColumns

interface PipelineColumns {
  readonly id: number
  readonly project_id: number
  /** NAMESPACE/PROJECT; null while the pipelines of a removed project are being removed. */
  readonly project: string | null
  readonly status: string
  readonly source: string
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

const SELECT = `select l.id, l.project_id, concat(n.path, '/', p.path) as project, l.status, l.source, l.ref, l.sha, l.before_sha,
  l.tag, l.yaml_errors, l.created_at, l.updated_at, l.started_at, l.finished_at, l.committed_at, l.duration, l.coverage,
  ${JOINED_USER}
  from pipelines l left join users u on u.id = l.user_id left join projects p on p.id = l.project_id
  left join namespaces n on n.id = p.namespace_id`

const BY_ID = `${SELECT} where l.id = ?`

/** Finds a pipeline of a project. Throws NotFound. */
export async function requirePipeline(projectId: number, id: number): Promise<PipelineRow> {
  const found = await row<PipelineRow>(`${BY_ID} and l.project_id = ?`, [id, projectId])
  if (!found) throw new NotFound()
  return found
}

/** Finds a pipeline of any project. Throws NotFound. */
export async function requireAnyPipeline(id: number): Promise<PipelineRow> {
  const found = await row<PipelineRow>(BY_ID, [id])
  if (!found) throw new NotFound('Pipeline')
  return found
}

export type PipelineScope = 'running' | 'branches' | 'tags'

/** Which pipelines to list. Without `projectId`, pipelines of all projects. */
export interface PipelineFilter {
  readonly projectId?: number
  readonly statuses?: readonly string[]
  readonly ref?: string
}

const conditionOf = ({ projectId, statuses, ref }: PipelineFilter): Fragment =>
  and(equals('l.project_id', projectId), isIn('l.status', statuses), equals('l.ref', ref))

const countingPipelines = ({ sql, values }: Fragment): Fragment => ({
  sql: `select count(*) as total from pipelines l where ${sql}`,
  values
})

const newest = ({ sql, values }: Fragment, limit: string) =>
  rows<PipelineRow>(`${SELECT} where ${sql} order by l.id desc ${limit}`, values)

/** Returns a page of pipelines, newest first. */
export function listPipelines(
  projectId: number,
  query: PageRequest & { scope?: PipelineScope }
): Promise<Page<PipelineRow>> {
  const where = and(equals('l.project_id', projectId), scopeCondition(query.scope))
  const part = window(query)
  return pageOfIds<PipelineRow>(part, {
    direction: 'desc',
    counting: countingPipelines(where),
    countExactly: () => countGrowing(PIPELINES, where),
    moves: query.scope !== undefined,
    idOf: ({ id }) => id,
    read: ({ direction, sql, from }) => {
      const page = and(where, from && fromId('l.id', direction, from))
      // Without a place, the rows of a far page must be those that were counted.
      const read = from || !isFar(part) ? oldRows<PipelineRow> : rows<PipelineRow>
      return read(`${SELECT} where ${page.sql} order by l.id ${direction} ${sql}`, page.values)
    }
  })
}

export interface PipelineRun {
  readonly id: number
  readonly status: string
  /** Seconds. */
  readonly duration: number
}

/** Returns the last pipelines of a project that have run to an end, oldest first. */
export async function lastRuns(projectId: number, most: number): Promise<PipelineRun[]> {
  const found = await rows<PipelineRun>(
    `select l.id, l.status, l.duration from (select id, status, duration from pipelines where project_id = ?
       order by id desc limit 200) l
     where l.status in ('success', 'failed') and l.duration is not null order by l.id desc limit ${Math.trunc(most)}`,
    [projectId]
  )
  return found.reverse()
}

/** Returns the newest pipelines that match a filter, at most `limit`, and the total number. */
export async function listAllPipelines(filter: PipelineFilter, limit: number) {
  const { sql, values } = countingPipelines(conditionOf(filter))
  const [items, total] = await Promise.all([pipelinesBefore(filter, undefined, limit), countTotal(sql, values)])
  return { items, total }
}

/** Returns the next pipelines of such a list, after the pipeline `last`. */
export const pipelinesBefore = (filter: PipelineFilter, last?: number, most = PART): Promise<PipelineRow[]> =>
  newest(and(conditionOf(filter), below('l.id', last)), `limit ${Math.trunc(most)}`)

function scopeCondition(scope: PipelineScope | undefined): Fragment | undefined {
  if (scope === undefined) return undefined
  if (scope === 'running') return { sql: "l.status = 'running'", values: [] }
  // Not specified except for the names: these scopes select the newest pipeline of each branch or tag.
  return {
    sql: `l.id in (select max(m.id) from pipelines m where m.project_id = l.project_id
      and m.is_child = false and m.tag = ${scope === 'tags' ? 1 : 0} group by m.ref)`,
    values: []
  }
}
