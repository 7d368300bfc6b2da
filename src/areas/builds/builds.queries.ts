import { countTotal, type Page, window } from '../../db/paginate.js'
import { marks, padded, row, rows, type Value } from '../../db/sql.js'
import type { ChangingBuild } from '../pipelines/build-changes.js'
import { JOINED_FULL_USER, type JoinedFullUser } from '../users/joined-user.js'
import type { BuildListQuery } from './builds.schema.js'

export type BuildRow = JoinedFullUser & BuildColumns

interface BuildColumns {
  readonly id: number
  readonly name: string
  readonly stage: string
  readonly ref: string
  readonly tag: number
  readonly sha: string
  readonly status: string
  readonly coverage: number | null
  readonly attempt: number
  readonly created_at: Date
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

const COLUMNS = `b.id, b.name, b.stage, b.ref, b.tag, b.sha, b.status, b.coverage, b.attempt, b.created_at, b.started_at,
  b.finished_at, b.artifacts_filename, b.artifacts_size, b.artifacts_sha256, b.artifacts_attempt, b.artifacts_expire_at, b.erased_at,
  b.pipeline_id, l.ref as pipeline_ref, l.sha as pipeline_sha, l.status as pipeline_status,
  ${JOINED_FULL_USER}, r.id as runner_id,
  r.description as runner_description, r.active as runner_active, r.is_shared as runner_is_shared,
  r.name as runner_name`
const JOINS = `left join pipelines l on l.id = b.pipeline_id left join users u on u.id = b.user_id
  left join runners r on r.id = b.runner_id`

export function findBuild(projectId: number, id: number): Promise<BuildRow | undefined> {
  return row<BuildRow>(`select ${COLUMNS} from builds b ${JOINS} where b.id = ? and b.project_id = ?`, [id, projectId])
}

/** Returns builds of a project by their ids. */
export function findBuilds(projectId: number, ids: readonly number[]): Promise<BuildRow[]> {
  if (ids.length === 0) return Promise.resolve([])
  const listed = padded(ids)
  return rows<BuildRow>(
    `select ${COLUMNS} from builds b ${JOINS} where b.project_id = ? and b.id in (${marks(listed)})`,
    [projectId, ...listed]
  )
}

/** A build that somebody wants to start. `latest` is 0 when it was retried, otherwise 1. */
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

/** Returns a page of builds, newest first. With `sha`, the page has only builds of that commit. */
export async function listBuilds(projectId: number, query: BuildListQuery, sha?: string): Promise<Page<BuildRow>> {
  const { page, perPage, sql } = window(query)
  const where = ['b.project_id = ?']
  const values: Value[] = [projectId]
  if (sha !== undefined) {
    where.push('b.sha = ?')
    values.push(sha)
  }
  if (query.scope && query.scope.length > 0) {
    where.push(`b.status in (${query.scope.map(() => '?').join(', ')})`)
    values.push(...query.scope)
  }
  const condition = where.join(' and ')
  const [total, items] = await Promise.all([
    countTotal(`select count(*) as total from builds b where ${condition}`, values),
    rows<BuildRow>(
      `select ${COLUMNS} from (select b.id from builds b where ${condition} order by b.id desc ${sql}) page
       join builds b on b.id = page.id ${JOINS} order by page.id desc`,
      values
    )
  ])
  return { items, total, page, perPage }
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
