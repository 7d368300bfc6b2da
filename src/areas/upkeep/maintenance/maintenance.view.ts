import { nextDue } from '../../../lib/cron.js'
import { parseStored } from '../../../lib/stored-json.js'
import type { Task } from '../../../queue/task.js'
import type { RunRow } from './maintenance.queries.js'

/** The record of a run in the output of commands. */
export interface MaintenanceRun {
  readonly id: number
  readonly task: string
  readonly cause: 'schedule' | 'command'
  readonly dry_run: boolean
  readonly hostname: string
  readonly pid: number
  readonly state: 'running' | 'done' | 'failed'
  readonly started_at: Date
  readonly finished_at: Date | null
  /** The number of processed items; in a dry run, the number of items that would be processed. */
  readonly count: number
  /** Other results of the task: figures by name, and notes of one line each. */
  readonly report: { readonly notes: readonly string[]; readonly [figure: string]: number | readonly string[] }
  readonly error: string | null
}

export function viewRun({ dry_run, report, ...run }: RunRow): MaintenanceRun {
  return { ...run, dry_run: dry_run === 1, report: parseStored<MaintenanceRun['report']>(report, { notes: [] }) }
}

export interface MaintenanceTask {
  readonly name: string
  readonly schedule: string
  readonly about: string
  readonly last_run: MaintenanceRun | null
  readonly next_run_at: Date
}

export function viewTask({ name, schedule, about }: Task, last: RunRow | undefined, now: Date): MaintenanceTask {
  return { name, schedule, about, last_run: last ? viewRun(last) : null, next_run_at: nextDue(schedule, now) }
}
