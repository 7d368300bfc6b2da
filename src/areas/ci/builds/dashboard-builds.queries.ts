// The builds that the dashboard shows: running and waiting builds, and the newest ones.
import { row, rows } from '../../../db/connect/sql.js'

/** The maximum number of running, of waiting, and of the newest builds. */
const MOST = 100

export interface WatchedBuild {
  readonly id: number
  readonly project_id: number
  /** NAMESPACE/PROJECT; null while the builds of a removed project are being removed. */
  readonly project: string | null
  readonly name: string
  readonly stage: string
  readonly ref: string
  readonly status: string
  readonly created_at: Date
  readonly started_at: Date | null
  readonly finished_at: Date | null
  /** The host of the worker that runs it. */
  readonly hostname: string | null
  readonly pid: number | null
  /** The display name of the external runner that has it; null with the built-in one. */
  readonly runner: string | null
}

export interface WatchedBuildDetails extends WatchedBuild {
  readonly attempt: number
  readonly failure_reason: string | null
  readonly exit_code: number | null
  readonly erased_at: Date | null
}

const COLUMNS = `b.id, b.project_id, concat(n.path, '/', p.path) as project, b.name, b.stage, b.ref, b.status, b.created_at,
  b.started_at, b.finished_at, w.hostname, w.pid,
  if(o.built_in = 1, null, o.description) as runner`
const JOINS = `left join projects p on p.id = b.project_id left join namespaces n on n.id = p.namespace_id
  left join job_processes w on w.id = b.process_id and b.status = 'running' left join runners o on o.id = b.runner_id`

const ofStatus = (status: string) =>
  `(select id from builds force index (builds_queue) where status = '${status}' limit ${MOST})`

/** Returns at most 300 builds, newest first: 100 that run, 100 that wait, and the 100 newest. */
export function watchedBuilds(): Promise<WatchedBuild[]> {
  return rows<WatchedBuild>(
    `select ${COLUMNS} from (${ofStatus('running')} union ${ofStatus('pending')}
       union (select id from builds order by id desc limit ${MOST})) shown
     straight_join builds b on b.id = shown.id ${JOINS} order by b.id desc`
  )
}

export function findWatchedBuild(id: number): Promise<WatchedBuildDetails | undefined> {
  return row<WatchedBuildDetails>(
    `select ${COLUMNS}, b.attempt, b.failure_reason, b.exit_code, b.erased_at from builds b ${JOINS} where b.id = ?`,
    [id]
  )
}

/** The state of a trace for its readers: which attempt runs, and whether more output will follow. */
export interface TraceState {
  readonly id: number
  readonly status: string
  readonly attempt: number
  readonly erased_at: Date | null
}

export const findTraceState = (id: number): Promise<TraceState | undefined> =>
  row<TraceState>('select id, status, attempt, erased_at from builds where id = ?', [id])
