import { type Fragment, marks, oldRows, padded, row, rows } from '../../../db/connect/sql.js'
import { and, below, equals, isIn } from '../../../db/lists/conditions.js'
import { BUILDS, countGrowing } from '../../../db/lists/count-cache.js'
import { fromId } from '../../../db/lists/keyset-cache.js'
import { countTotal, type Direction, PART, type Page, pageOfIds, window } from '../../../db/lists/paginate.js'
import { NotFound } from '../../../errors.js'
import { JOINED_FULL_USER, type JoinedFullUser } from '../../people/users/joined-user.js'
import type { ChangingBuild } from '../pipelines/build-changes.js'
import type { BuildListQuery } from './builds.schema.js'

export type BuildRow = JoinedFullUser & BuildColumns

interface BuildColumns {
  readonly id: number
  readonly project_id: number
  readonly name: string
  readonly stage: string
  readonly ref: string
  readonly tag: number
  readonly sha: string
  readonly status: string
  readonly start_when: string
  readonly allow_failure: number
  /** A JSON array. */
  readonly tag_list: string
  readonly failure_reason: string | null
  readonly exit_code: number | null
  readonly coverage: number | null
  readonly attempt: number
  readonly created_at: Date
  readonly queued_at: Date | null
  readonly started_at: Date | null
  readonly finished_at: Date | null
  readonly artifacts_filename: string | null
  readonly artifacts_size: number | null
  readonly artifacts_sha256: Buffer | null
  readonly artifacts_attempt: number | null
  readonly artifacts_expire_at: Date | null
  readonly erased_at: Date | null
  readonly pipeline_id: number
  readonly pipeline_ref: string
  readonly pipeline_sha: string
  readonly pipeline_status: string
  readonly runner_id: number | null
  readonly runner_description: string | null
  readonly runner_active: number | null
  readonly runner_is_shared: number | null
  readonly runner_name: string | null
}

/** A build of a list. `proof` is the same for as long as nothing has changed that its record shows. */
export interface ProvenBuild {
  readonly id: number
  readonly proof: string
}

interface WithProject {
  /** NAMESPACE/PROJECT; null while the builds of a removed project are being removed. */
  readonly project: string | null
}

/** A build for commands. */
export type NamedBuildRow = BuildRow & WithProject

const COLUMNS = `b.id, b.project_id, b.name, b.stage, b.ref, b.tag, b.sha, b.status,
  b.start_when, b.allow_failure, b.tag_list, b.failure_reason, b.exit_code, b.coverage, b.attempt, b.created_at, b.queued_at,
  b.started_at, b.finished_at, b.artifacts_filename, b.artifacts_size, b.artifacts_sha256, b.artifacts_attempt,
  b.artifacts_expire_at, b.erased_at, b.pipeline_id, l.ref as pipeline_ref, l.sha as pipeline_sha, l.status as pipeline_status,
  ${JOINED_FULL_USER}, r.id as runner_id, r.description as runner_description, r.active as runner_active,
  r.is_shared as runner_is_shared, r.name as runner_name`
const JOINS = `left join pipelines l on l.id = b.pipeline_id left join users u on u.id = b.user_id
  left join runners r on r.id = b.runner_id`
const PROOF = `concat_ws(' ', b.row_version, l.row_version, ifnull(u.row_version, '-'), ifnull(r.row_version, '-')) as proof`
const NAMED_COLUMNS = `${COLUMNS}, concat(n.path, '/', p.path) as project`
const NAMED_JOINS = `${JOINS} left join projects p on p.id = b.project_id left join namespaces n on n.id = p.namespace_id`

export function findBuild(projectId: number, id: number): Promise<BuildRow | undefined> {
  return row<BuildRow>(`select ${COLUMNS} from builds b ${JOINS} where b.id = ? and b.project_id = ?`, [id, projectId])
}

/** Returns builds of a project by their ids. */
export function findBuilds(projectId: number, ids: readonly number[]): Promise<(BuildRow & ProvenBuild)[]> {
  if (ids.length === 0) return Promise.resolve([])
  const listed = padded(ids)
  return rows<BuildRow & ProvenBuild>(
    `select ${COLUMNS}, ${PROOF} from builds b ${JOINS} where b.project_id = ? and b.id in (${marks(listed)})`,
    [projectId, ...listed]
  )
}

/** Finds a build of any project. Throws NotFound. */
export async function requireBuild(id: number): Promise<NamedBuildRow> {
  const found = await row<NamedBuildRow>(`select ${NAMED_COLUMNS} from builds b ${NAMED_JOINS} where b.id = ?`, [id])
  if (!found) throw new NotFound('Build')
  return found
}

/** Returns all builds of a pipeline, in the order of its stages. */
export const buildsOfPipeline = (pipelineId: number): Promise<NamedBuildRow[]> =>
  rows<NamedBuildRow>(
    `select ${NAMED_COLUMNS} from builds b ${NAMED_JOINS} where b.pipeline_id = ? order by b.stage_index, b.id`,
    [pipelineId]
  )

/** A build to start. `latest` is 0 when it was retried, otherwise 1. */
export interface StartableBuild extends ChangingBuild {
  readonly name: string
  readonly start_when: string
  readonly ready_at: Date | null
  readonly resource_group: string | null
  /** 0 when the build starts a pipeline. */
  readonly start_in: number | null
  readonly latest: number
}

/** Reads a build of a pipeline that the caller has locked. */
export function findStartableBuild(id: number): Promise<StartableBuild | undefined> {
  return row<StartableBuild>(
    `select b.id, b.name, b.stage_index, b.status, b.allow_failure, b.start_when, b.ready_at, b.resource_group,
       b.start_in, not exists (select 1 from builds c where c.pipeline_id = b.pipeline_id and c.name = b.name and c.id > b.id) as latest
     from builds b where b.id = ?`,
    [id]
  )
}

/** Which builds to list. Without `projectId`, builds of all projects. */
export interface BuildFilter {
  readonly projectId?: number
  readonly pipelineId?: number
  readonly statuses?: readonly string[]
  readonly ref?: string
  readonly sha?: string
}

const conditionOf = ({ projectId, pipelineId, statuses, ref, sha }: BuildFilter): Fragment =>
  and(
    equals('b.project_id', projectId),
    equals('b.pipeline_id', pipelineId),
    equals('b.ref', ref),
    equals('b.sha', sha),
    isIn('b.status', statuses)
  )

const countingBuilds = ({ sql, values }: Fragment): Fragment => ({
  sql: `select count(*) as total from builds b where ${sql}`,
  values
})

/** From this offset on, reading the ids of a page first costs less than joining the rows before it. */
const FAR = 100

/** Reads the ids first, so that only the rows of the page are joined. */
const afterIds = (
  { sql }: Fragment,
  direction: Direction,
  limit: string
) => `from (select b.id from builds b where ${sql}
  order by b.id ${direction} ${limit}) page join builds b on b.id = page.id`

type List<Row> = (projectId: number, query: BuildListQuery, sha?: string) => Promise<Page<Row>>

/** Returns a page of builds, newest first. With `sha`, the page has only builds of that commit. */
export const listBuilds: List<BuildRow> = listOf(COLUMNS)

/** Like `listBuilds`, but without the records. */
export const listProofs: List<ProvenBuild> = listOf(`b.id, ${PROOF}`)

function listOf<Row extends { readonly id: number }>(columns: string): List<Row> {
  return (projectId, query, sha) => {
    const where = conditionOf({ projectId, sha, statuses: query.scope })
    return pageOfIds<Row>(window(query), {
      direction: 'desc',
      counting: countingBuilds(where),
      countExactly: () => countGrowing(BUILDS, where),
      // The status of each build changes.
      moves: query.scope !== undefined,
      idOf: ({ id }) => id,
      read: ({ direction, sql, until, from }) => {
        const page = and(where, from && fromId('b.id', direction, from))
        // Without statuses, an index has the rows in their order. Reading the ids first takes 0.2 ms. With a place, only that finds the
        // place in the index: otherwise the database passes all entries before it.
        if (query.scope === undefined && !from && until <= FAR) {
          return oldRows<Row>(
            `select ${columns} from builds b ${JOINS} where ${page.sql} order by b.id ${direction} ${sql}`,
            page.values
          )
        }
        // Without a place, the rows must be those that were counted.
        const read = from ? oldRows<Row> : rows<Row>
        return read(
          `select ${columns} ${afterIds(page, direction, sql)} ${JOINS} order by page.id ${direction}`,
          page.values
        )
      }
    })
  }
}

/** Returns the newest builds that match a filter, at most `limit`, and the total number. */
export async function listAllBuilds(filter: BuildFilter, limit: number) {
  const { sql, values } = countingBuilds(conditionOf(filter))
  const [items, total] = await Promise.all([buildsBefore(filter, undefined, limit), countTotal(sql, values)])
  return { items, total }
}

/** Returns the next builds of such a list, after the build `last`. */
export function buildsBefore(filter: BuildFilter, last?: number, most = PART): Promise<NamedBuildRow[]> {
  const where = and(conditionOf(filter), below('b.id', last))
  const page = afterIds(where, 'desc', `limit ${Math.trunc(most)}`)
  return rows<NamedBuildRow>(`select ${NAMED_COLUMNS} ${page} ${NAMED_JOINS} order by page.id desc`, where.values)
}

/** Returns the successful build `name` in the newest successful pipeline of a ref. */
export function findSuccessfulBuild(projectId: number, ref: string, name: string): Promise<BuildRow | undefined> {
  return row<BuildRow>(
    `select ${COLUMNS} from builds b ${JOINS}
     where b.project_id = ? and b.ref = ? and b.name = ? and b.status = 'success'
       and b.pipeline_id = (select max(m.id) from pipelines m
         where m.project_id = b.project_id and m.ref = b.ref and m.status = 'success'
           and m.is_child = false)
     order by b.id desc limit 1`,
    [projectId, ref, name]
  )
}
