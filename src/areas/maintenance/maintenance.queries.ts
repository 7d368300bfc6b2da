import { row, rows } from '../../db/sql.js'

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

/** Runs, of one task or all, newest first. */
export function listRuns({ task, limit }: { task?: string; limit: number }): Promise<RunRow[]> {
  const where = task === undefined ? '' : 'where task = ?'
  return rows<RunRow>(
    `${SELECT} ${where} order by id desc limit ${Math.trunc(limit)}`,
    task === undefined ? [] : [task]
  )
}

/** Each task's last run that was no dry run, by the task's name. */
export async function lastRuns(): Promise<Map<string, RunRow>> {
  const found = await rows<RunRow>(
    `${SELECT} where id in (select max(id) from maintenance_runs where dry_run = 0 group by task)`
  )
  return new Map(found.map(run => [run.task, run]))
}

/** When this schema could have had its first run. */
export async function maintainedSince(): Promise<Date | null> {
  const found = await row<{ since: Date | null }>('select min(applied_at) as since from schema_migrations')
  return found?.since ?? null
}
