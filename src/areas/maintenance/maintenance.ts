// Runs a maintenance task: under its lock, with a record. The worker's schedule and the command line both come here.
import { hostname } from 'node:os'
import type { Origin } from '../../access/actor.js'
import { execute } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { AlreadyRunning, Failure, NotFound } from '../../errors.js'
import type { Task } from '../../queue/task.js'
import { audit } from '../audit/audit.js'
import { findRun } from './maintenance.queries.js'
import { type MaintenanceRun, viewRun } from './maintenance.view.js'
import { isStale, listLocks, takeLock } from './maintenance-lock.js'
import { tasks } from './maintenance-tasks.js'

export interface RunOptions {
  /** Only tell what would be done. */
  readonly dryRun?: boolean
  /** Ends the run between two steps; its reason is the record's error. */
  readonly signal?: AbortSignal
  /** Hears each note as it is made. */
  readonly onNote?: (text: string) => void
}

/** More lines than these are counted, not kept: a record is read by people. */
const MOST_NOTES = 1000

/** Of runs that the schedule causes. */
export const scheduleOrigin = (): Origin => ({
  user: null,
  asker: null,
  name: 'schedule',
  actingAs: null,
  via: 'schedule',
  address: hostname().slice(0, 64)
})

/** The task of this name. Throws NotFound. */
export function taskNamed(name: string): Task {
  const task = tasks.find(known => known.name === name)
  if (!task) throw new NotFound('Task')
  return task
}

/**
 * Runs a task to its end and gives the record, also of a run that failed. Throws NotFound for no task, AlreadyRunning at
 * once while another process runs it.
 */
export async function runTask(name: string, options: RunOptions, origin: Origin): Promise<MaintenanceRun> {
  const task = taskNamed(name)
  const lock = await takeLock(task.name)
  try {
    await endDeadRuns(task.name)
    const id = await beginRun(task, options, origin)
    await perform(id, task, options, AbortSignal.any([lock.signal, ...(options.signal ? [options.signal] : [])]))
    const run = await findRun(id)
    if (!run) throw new NotFound('Run')
    return viewRun(run)
  } finally {
    await lock.release()
  }
}

/** Whoever holds the lock knows that nobody else runs the task any more. */
async function endDeadRuns(task: string): Promise<void> {
  await execute(
    `update maintenance_runs set state = 'failed', finished_at = ?, error = 'the process that ran this ended without a word'
     where task = ? and state = 'running'`,
    [new Date(), task]
  )
}

/** Takes the locks that nobody who lives holds, ends the records of their runs and lets go; gives the tasks. */
export async function releaseStaleLocks(): Promise<string[]> {
  const released: string[] = []
  for (const { task } of (await listLocks()).filter(isStale)) {
    try {
      const lock = await takeLock(task)
      await endDeadRuns(task)
      await lock.release()
      released.push(task)
    } catch (error) {
      // Somebody was faster, and does the same.
      if (!(error instanceof AlreadyRunning)) throw error
    }
  }
  return released
}

function beginRun(task: Task, { dryRun = false }: RunOptions, origin: Origin): Promise<number> {
  const cause = origin.via === 'schedule' ? 'schedule' : 'command'
  return transact(async () => {
    const { insertId } = await execute(
      `insert into maintenance_runs (task, cause, dry_run, hostname, pid, state, started_at, report)
       values (?, ?, ?, ?, ?, 'running', ?, '{"notes":[]}')`,
      [task.name, cause, dryRun, hostname(), process.pid, new Date()]
    )
    if (cause === 'command') {
      await audit(origin, {
        action: 'maintenance.run',
        target: { type: 'maintenance_run', id: insertId, name: task.name },
        changes: { dry_run: { after: dryRun } }
      })
    }
    return insertId
  })
}

async function perform(id: number, task: Task, { dryRun = false, onNote }: RunOptions, signal: AbortSignal) {
  const notes: string[] = []
  let [count, omitted] = [0, 0]
  const context = {
    dryRun,
    signal,
    count: (more = 1) => {
      count += more
    },
    note: (text: string) => {
      if (notes.length < MOST_NOTES) notes.push(text)
      else omitted += 1
      onNote?.(text)
    }
  }
  let figures: Readonly<Record<string, number>> = {}
  let error: string | null = null
  try {
    signal.throwIfAborted()
    figures = (await task.run(context)) ?? {}
  } catch (failure) {
    error = textOf(signal.aborted ? signal.reason : failure)
  }
  const report = JSON.stringify({ ...figures, ...(omitted > 0 ? { notes_omitted: omitted } : {}), notes })
  await execute(
    `update maintenance_runs set state = ?, finished_at = ?, count = ?, report = ?, error = ?
     where id = ? and state = 'running'`,
    [error === null ? 'done' : 'failed', new Date(), count, report, error, id]
  )
}

/** Of a failure that has a name its words; of a fault of the program also where it is. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return (error instanceof Failure ? error.message : (error.stack ?? error.message)).slice(0, 8000)
}
