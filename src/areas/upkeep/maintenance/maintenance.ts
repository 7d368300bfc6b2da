// Runs a maintenance task under its lock and records the run. The schedule of the worker and the command line use it.
import { hostname } from 'node:os'
import type { Origin } from '../../../access/actor.js'
import { execute } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { AlreadyRunning, Failure, NoSuch, NotFound } from '../../../errors.js'
import { sourceStack } from '../../../lib/source-stack.js'
import type { Task } from '../../../queue/task.js'
import { audit } from '../../ground/audit/audit.js'
import { findRun } from './maintenance.queries.js'
import { type MaintenanceRun, viewRun } from './maintenance.view.js'
import { isStale, listLocks, takeLock } from './maintenance-lock.js'
import { tasks } from './maintenance-tasks.js'

export interface RunOptions {
  /** Only report what the task would do. */
  readonly dryRun?: boolean
  /** Ends the run between two steps. The reason of the signal becomes the error in the record. */
  readonly signal?: AbortSignal
  /** Called with each note at once. */
  readonly onNote?: (text: string) => void
}

/** The record keeps this many notes, because people read it, and only counts the others. */
const MOST_NOTES = 1000

/** Returns the task with this name. Throws NotFound when no task has it. */
export function taskNamed(name: string): Task {
  const task = tasks.find(known => known.name === name)
  if (!task) throw new NoSuch('task', name)
  return task
}

/**
 * Runs a task to its end and returns the record, also when the run failed. Throws NotFound when no task has this name, and
 * AlreadyRunning, without waiting, while another process runs the task.
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

/** Marks the runs of dead processes as failed. Call it while holding the lock, so that no other process runs the task. */
async function endDeadRuns(task: string): Promise<void> {
  await execute(
    `update maintenance_runs set state = 'failed', finished_at = ?, error = 'the process of this run died before the run ended'
     where task = ? and state = 'running'`,
    [new Date(), task]
  )
}

/** Releases the locks of dead processes and marks their runs as failed. Returns the names of the tasks. */
export async function releaseStaleLocks(): Promise<string[]> {
  const released: string[] = []
  for (const { task } of (await listLocks()).filter(isStale)) {
    try {
      const lock = await takeLock(task)
      await endDeadRuns(task)
      await lock.release()
      released.push(task)
    } catch (error) {
      // Another process was faster and does the same.
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

/** The text of an error: the message of a named failure, or the stack of a fault of the program. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return (error instanceof Failure ? error.message : sourceStack(error.stack ?? error.message)).slice(0, 8000)
}
