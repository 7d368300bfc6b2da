// Runs the tasks of `maintenance run` one after another, each under its own lock. A signal ends the run cleanly.
import { runTask, taskNamed } from '../../areas/upkeep/maintenance/maintenance.js'
import type { MaintenanceRun } from '../../areas/upkeep/maintenance/maintenance.view.js'
import { tasks } from '../../areas/upkeep/maintenance/maintenance-tasks.js'
import { AlreadyRunning, Failure } from '../../errors.js'
import { commandOrigin } from '../framework/origin.js'
import { withDatabase } from '../framework/with-database.js'

interface Options {
  readonly dryRun: boolean
  readonly onNote?: (text: string) => void
  readonly onRun: (run: MaintenanceRun) => void
  readonly onRunning: (text: string) => void
}

/**
 * Runs the named tasks. Returns the records of their runs, and the names of the tasks that another process is already
 * running. When a name is unknown, it throws NotFound before the first run.
 */
export async function runTasks(names: readonly string[] | 'all', { onRun, onRunning, ...options }: Options) {
  const wanted = names === 'all' ? tasks.map(({ name }) => name) : names.map(name => taskNamed(name).name)
  const stop = new AbortController()
  const signals = ['SIGINT', 'SIGTERM'] as const
  const end = (signal: NodeJS.Signals) => stop.abort(new Failure(`ended by ${signal}`))
  // `once`, so that a second signal ends the process immediately, for a person who does not want to wait.
  for (const signal of signals) process.once(signal, end)
  const runs: MaintenanceRun[] = []
  const running: string[] = []
  try {
    await withDatabase(async () => {
      for (const name of wanted) {
        if (stop.signal.aborted) break
        try {
          const run = await runTask(name, { ...options, signal: stop.signal }, commandOrigin())
          runs.push(run)
          onRun(run)
        } catch (error) {
          if (!(error instanceof AlreadyRunning)) throw error
          running.push(name)
          onRunning(error.message)
        }
      }
    })
  } finally {
    for (const signal of signals) process.off(signal, end)
  }
  // No record has a signal that came between two runs, so it is reported here.
  if (stop.signal.aborted && runs.every(({ state }) => state !== 'failed')) throw stop.signal.reason
  return { runs, running_already: running }
}
