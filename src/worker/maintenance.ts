// Runs maintenance tasks for the schedule.
import { scheduleOrigin } from '../access/actor.js'
import { runTask } from '../areas/upkeep/maintenance/maintenance.js'
import { tasks } from '../areas/upkeep/maintenance/maintenance-tasks.js'
import { holds, knownStorages } from '../cluster/storages.js'
import { AlreadyRunning } from '../errors.js'
import { log } from '../log.js'
import { enqueue } from '../queue/enqueue.js'

const usesRepositories = (name: string) => tasks.some(task => task.name === name && task.usesRepositories)

/**
 * Runs a task, and has other machines run it for the repositories that belong to them. Does nothing when the task already runs
 * elsewhere. Throws when the run failed, so that the job is tried again.
 */
export async function runScheduled(task: string, signal: AbortSignal, done: readonly string[] = []): Promise<void> {
  const storages = knownStorages().map(({ name }) => name)
  const all = [...done, ...storages.filter(holds)]
  try {
    const run = await runTask(task, { signal }, scheduleOrigin())
    if (run.state === 'failed') throw new Error(`${task}: ${run.error}`)
    log().info({ task, count: run.count }, 'maintenance task finished')
    // The next machine begins when this one has ended, because a task runs only once at a time.
    const next = storages.find(name => !all.includes(name))
    if (usesRepositories(task) && next !== undefined)
      await enqueue('maintenance.run', { task, done: all }, { storage: next })
  } catch (error) {
    if (!(error instanceof AlreadyRunning)) throw error
    log().info({ task }, error.message)
  }
}
