import { oldRows, row, rows, type Value } from '../../../../db/connect/sql.js'
import { countTotal, type Page, window } from '../../../../db/lists/paginate.js'
import { JOINED_USER, type JoinedUser } from '../../../people/users/joined-user.js'
import { EXTERNAL } from '../pipeline-stages.js'
import type { StatusListQuery } from './commit-statuses.schema.js'

interface StatusColumns {
  readonly id: number
  readonly sha: string
  readonly ref: string
  readonly status: string
  readonly name: string
  readonly target_url: string | null
  readonly description: string | null
  readonly created_at: Date
  readonly started_at: Date | null
  readonly finished_at: Date | null
  readonly allow_failure: number
}
export type CommitStatusRow = StatusColumns & JoinedUser

const SHARED = 's.id, s.sha, s.ref, s.status, s.name, s.created_at, s.started_at, s.finished_at, s.user_id as author_id'
const OF_BUILD = `${SHARED}, null as target_url, null as description, s.allow_failure, 0 as is_external`
const POSTED = `${SHARED}, s.target_url, s.description, 0 as allow_failure, 1 as is_external`

/** A statement on one of the two tables, and its values. */
interface Part {
  readonly sql: string
  readonly values: readonly Value[]
}

function partOf(table: string, columns: string, place: readonly Value[], query: StatusListQuery): Part {
  const ofCommit = `from ${table} s join pipelines p on p.id = s.pipeline_id where p.project_id = ? and p.sha = ?`
  const latest = `select max(s.id) ${ofCommit} group by s.pipeline_id, s.name`
  const conditions = [...(query.all ? [] : [`s.id in (select * from (${latest}) newest)`])]
  const values: Value[] = [...place, ...(query.all ? [] : place)]
  const add = (condition: string, value: Value) => {
    conditions.push(condition)
    values.push(value)
  }
  if (query.ref) add('s.ref = ?', query.ref)
  if (query.name) add('s.name = ?', query.name)
  if (query.stage) add(table === 'builds' ? 's.stage = ?' : `'${EXTERNAL.name}' = ?`, query.stage)
  return { sql: [`select ${columns} ${ofCommit}`, ...conditions].join(' and '), values }
}

/** Returns a page of the statuses of a commit and of its builds, oldest first. */
export async function listCommitStatuses(
  projectId: number,
  sha: string,
  query: StatusListQuery
): Promise<Page<CommitStatusRow>> {
  const { page, perPage, sql } = window(query)
  const parts = [
    partOf('builds', OF_BUILD, [projectId, sha], query),
    partOf('commit_statuses', POSTED, [projectId, sha], query)
  ]
  const both = parts.map(part => `(${part.sql})`).join(' union all ')
  const values = parts.flatMap(part => part.values)
  const [items, total] = await Promise.all([
    oldRows<CommitStatusRow>(
      `select t.*, ${JOINED_USER} from (${both}) t left join users u on u.id = t.author_id
       order by t.created_at, t.is_external, t.id ${sql}`,
      values
    ),
    countTotal(`select count(*) as total from (${both}) t`, values)
  ])
  return { items, total, page, perPage }
}

/** Returns the external statuses of a pipeline, the newest of each name. */
export const listExternalStatuses = (pipelineId: number): Promise<CommitStatusRow[]> =>
  rows<CommitStatusRow>(
    `select t.*, ${JOINED_USER} from (select ${POSTED} from commit_statuses s
       join (select max(id) as id from commit_statuses where pipeline_id = ? group by name) latest on latest.id = s.id) t
     left join users u on u.id = t.author_id order by t.id`,
    [pipelineId]
  )

export const findCommitStatus = (id: number) =>
  row<CommitStatusRow>(
    `select t.*, ${JOINED_USER} from (select ${POSTED} from commit_statuses s where s.id = ?) t
     left join users u on u.id = t.author_id`,
    [id]
  )
