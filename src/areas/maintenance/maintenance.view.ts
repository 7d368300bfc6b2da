import { nextDue } from '../../lib/cron.js'
import type { Task } from '../../queue/task.js'
import type { RunRow } from './maintenance.queries.js'

/** The record of a run, as commands show it. */
export interface MaintenanceRun {
  id: number
  task: string
  cause: 'schedule' | 'command'
  dry_run: boolean
  hostname: string
  pid: number
  state: 'running' | 'done' | 'failed'
  started_at: Date
  finished_at: Date | null
  /** What was dealt with, or would be. */
  count: number
  /** What else the task tells: figures by name, and notes, a line each. */
  report: { readonly notes: readonly string[]; readonly [figure: string]: number | readonly string[] }
  error: string | null
}

export function viewRun({ dry_run, report, ...run }: RunRow): MaintenanceRun {
  return { ...run, dry_run: dry_run === 1, report: JSON.parse(report) as MaintenanceRun['report'] }
}

export interface MaintenanceTask {
  name: string
  schedule: string
  about: string
  last_run: MaintenanceRun | null
  next_run_at: Date
}

export function viewTask({ name, schedule, about }: Task, last: RunRow | undefined, now: Date): MaintenanceTask {
  return { name, schedule, about, last_run: last ? viewRun(last) : null, next_run_at: nextDue(schedule, now) }
}
