import { row, rows } from '../../../db/connect/sql.js'
import { PART } from '../../../db/lists/paginate.js'

/** A run of a maintenance task. */
export interface RunRow {
  readonly id: number
  readonly task: string
  readonly cause: 'schedule' | 'command'
  readonly dry_run: number
  readonly hostname: string
  readonly pid: number
  readonly state: 'running' | 'done' | 'failed'
  readonly started_at: Date
  readonly finished_at: Date | null
  readonly count: number
  readonly report: string
  readonly error: string | null
}

const SELECT = `select id, task, cause, dry_run, hostname, pid, state, started_at, finished_at, count, report, error
  from maintenance_runs`

export const findRun = (id: number): Promise<RunRow | undefined> => row<RunRow>(`${SELECT} where id = ?`, [id])

/** Runs of one task or of all tasks, newest first. `limit` is a number of runs. */
export function listRuns({ task, limit }: { task?: string; limit: number }): Promise<RunRow[]> {
  const where = task === undefined ? '' : 'where task = ?'
  return rows<RunRow>(
    `${SELECT} ${where} order by id desc limit ${Math.trunc(limit)}`,
    task === undefined ? [] : [task]
  )
}

/** The next part of that list: runs with a lower id than `before`. */
export function runsBefore(task: string | undefined, before: number): Promise<RunRow[]> {
  const [where, values] = task === undefined ? ['', []] : ['task = ? and', [task]]
  return rows<RunRow>(`${SELECT} where ${where} id < ? order by id desc limit ${PART}`, [...values, before])
}

/** Returns the last run of each task by the name of the task; dry runs do not count. */
export async function lastRuns(): Promise<Map<string, RunRow>> {
  const found = await rows<RunRow>(
    `${SELECT} where id in (select max(id) from maintenance_runs where dry_run = 0 group by task)`
  )
  return new Map(found.map(run => [run.task, run]))
}

/** The time of the first migration: no task can have run before it. */
export async function maintainedSince(): Promise<Date | null> {
  const found = await row<{ since: Date | null }>('select min(applied_at) as since from schema_migrations')
  return found?.since ?? null
}
