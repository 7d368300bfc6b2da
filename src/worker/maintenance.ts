// Runs maintenance tasks for the schedule.
import { scheduleOrigin } from '../access/actor.js'
import { runTask } from '../areas/upkeep/maintenance/maintenance.js'
import { AlreadyRunning } from '../errors.js'
import { log } from '../log.js'

/** Runs a task. Does nothing when the task already runs elsewhere. Throws when the run failed, so that the job is tried again. */
export async function runScheduled(task: string, signal: AbortSignal): Promise<void> {
  try {
    const run = await runTask(task, { signal }, scheduleOrigin())
    if (run.state === 'failed') throw new Error(`${task}: ${run.error}`)
    log().info({ task, count: run.count }, 'maintenance task finished')
  } catch (error) {
    if (!(error instanceof AlreadyRunning)) throw error
    log().info({ task }, error.message)
  }
}
