// Checks the workers and their work: jobs, ref changes, hooks, maintenance.
import { abandonedChanges, settleOpenChanges } from '../../areas/code/refs/recovery.js'
import { restingHooks } from '../../areas/ground/hooks/hooks.queries.js'
import { maintenanceMode } from '../../areas/ground/settings/maintenance-mode.js'
import { releaseStaleLocks, runTask } from '../../areas/upkeep/maintenance/maintenance.js'
import { lastRuns } from '../../areas/upkeep/maintenance/maintenance.queries.js'
import { isStale, listLocks } from '../../areas/upkeep/maintenance/maintenance-lock.js'
import { findLostRemovals } from '../../areas/upkeep/removal/unfinished-removals.js'
import { counted } from '../../lib/counted.js'
import { pausedQueues } from '../../queue/administer.js'
import { deadJobs, FAILING_TRIES, failingJobs, lostJobs } from '../../queue/inspect.js'
import { processMetrics, queueMetrics } from '../../queue/metrics.js'
import { reapProcesses } from '../../queue/processes.js'
import { allowedRanges } from '../../webhooks/target.js'
import { commandOrigin } from '../framework/origin.js'
import { Ailment, type Check } from './check.js'

/** Seconds that the oldest job of a queue may wait. A build may wait longer, because it waits for all builds before it. */
const LONGEST_WAIT: { readonly [queue: string]: number } = { builds: 86_400, maintenance: 7200 }
const USUAL_WAIT = 600

export const modeCheck: Check = {
  name: 'mode',
  about: 'says whether maintenance mode is on, in which clients cannot write',
  needs: 'rows',
  examine: async () => {
    const mode = await maintenanceMode()
    if (mode === null) return 'maintenance mode is off: clients can write'
    const since = mode.since.toISOString()
    return `maintenance mode is ON since ${since}: clients cannot write until gitstead maintenance off (${mode.message})`
  }
}

export const workersCheck: Check = {
  name: 'workers',
  about: 'while a server runs, a worker runs too',
  needs: 'rows',
  examine: async ({ serverUp }) => {
    const workers = await processMetrics()
    if (workers.length === 0 && serverUp) {
      throw new Ailment('no worker runs: builds, hooks and pipelines wait', 'start a worker: gitstead worker')
    }
    return workers.length === 0
      ? 'no worker, because the appliance is down'
      : `${counted(workers.length, 'worker')} running`
  }
}

export const jobsCheck: Check = {
  name: 'jobs',
  about: 'no dead process holds a job',
  needs: 'rows',
  examine: async () => {
    const lost = await lostJobs()
    if (lost.length === 0) return 'no dead process holds a job'
    throw new Ailment(
      `dead processes hold ${counted(lost.length, 'job')}`,
      'start a worker, or run gitstead doctor --fix: it puts the jobs back into their queues',
      lost.slice(0, 20).map(id => `job ${id}`)
    )
  },
  mend: async () => {
    const before = (await lostJobs()).length
    await reapProcesses()
    return `put ${counted(before, 'job')} back into the queues`
  }
}

export const deadJobsCheck: Check = {
  name: 'dead_jobs',
  about: 'no job failed for good',
  needs: 'rows',
  examine: async () => {
    const dead = await deadJobs()
    if (dead.length === 0) return 'no job is dead'
    throw new Ailment(
      `${counted(
        dead.reduce((sum, { count: some }) => sum + some, 0),
        'job'
      )} failed for good`,
      'see why with gitstead jobs list --state dead, then run gitstead jobs retry or gitstead jobs discard',
      dead.map(({ name, count: some }) => `${name}: ${some}`)
    )
  }
}

export const retriedJobsCheck: Check = {
  name: 'retried_jobs',
  about: 'no job fails again and again',
  needs: 'rows',
  examine: async () => {
    const failing = await failingJobs()
    if (failing.length === 0) return `no job has failed ${FAILING_TRIES} times`
    const total = failing.reduce((sum, { count: some }) => sum + some, 0)
    throw new Ailment(
      `${counted(total, 'job')} ${total === 1 ? 'fails' : 'fail'} again and again`,
      'see why with gitstead jobs list --state delayed and gitstead jobs show',
      failing.map(({ name, count: some, id, error }) => `${name}: ${some}; job ${id}: ${error}`)
    )
  }
}

export const queuesCheck: Check = {
  name: 'queues',
  about: 'no job waits too long while a worker runs',
  needs: 'rows',
  examine: async () => {
    const [metrics, paused, workers] = await Promise.all([queueMetrics(), pausedQueues(), processMetrics()])
    const late = Object.entries(metrics).filter(
      ([queue, { latency }]) => latency > (LONGEST_WAIT[queue] ?? USUAL_WAIT) && !paused.includes(queue)
    )
    const said = paused.length > 0 ? `paused: ${paused.join(', ')}` : 'no queue is paused'
    if (late.length === 0 || workers.length === 0) return said
    throw new Ailment(
      'jobs wait too long',
      'look at the workers with gitstead jobs stats; raise queue.concurrency, or start another worker',
      late.map(
        ([queue, { backlog, latency }]) => `${queue}: ${backlog} waiting, the oldest for ${Math.round(latency)} s`
      )
    )
  }
}

export const refChangesCheck: Check = {
  name: 'ref_changes',
  about: 'no dead process has left a ref change open',
  needs: 'rows',
  examine: async () => {
    const open = await abandonedChanges()
    if (open === 0) return 'no ref change is left open'
    throw new Ailment(
      `dead processes left ${counted(open, 'ref change')} open`,
      'start a worker, or run gitstead doctor --fix: it reads the refs and settles each change'
    )
  },
  mend: async () => {
    const before = await abandonedChanges()
    await settleOpenChanges()
    return `settled ${counted(before - (await abandonedChanges()), 'ref change')}`
  }
}

export const removalsCheck: Check = {
  name: 'removals',
  about: 'every unfinished removal of a project has a job that finishes it',
  needs: 'rows',
  examine: async () => {
    const lost = await findLostRemovals()
    if (lost.length === 0) return 'no removal has lost its job'
    throw new Ailment(
      `the removal of ${counted(lost.length, 'project')} has lost its job`,
      'run gitstead doctor --fix: it gives each removal a new job',
      lost.slice(0, 20).map(({ project_id, path_with_namespace: path }) => `project ${project_id}: ${path}`)
    )
  },
  mend: async () =>
    `gave ${counted((await runTask('unfinished_removals', {}, commandOrigin())).count, 'removal')} a job`
}

export const hooksCheck: Check = {
  name: 'hooks',
  about: 'no hook pauses because its receiver fails',
  needs: 'rows',
  examine: async () => {
    const allowed = `public addresses and ${counted(allowedRanges().length, 'more range')} allowed`
    const { hooks, resting } = await restingHooks()
    if (resting.length === 0) return `${counted(hooks, 'hook')}; ${allowed}`
    throw new Ailment(
      `the receivers of ${counted(resting.length, 'hook')} of ${hooks} fail`,
      'repair the receiver, or remove the hook with gitstead hooks remove',
      resting
        .slice(0, 20)
        .map(
          ({ id, project_id: project, failures, pending }) =>
            `hook ${id}${project === null ? '' : ` of project ${project}`}: ` +
            `${failures} failures in a row, ${pending} deliveries wait`
        )
    )
  }
}

export const maintenanceCheck: Check = {
  name: 'maintenance',
  about: 'no dead run holds a lock, and the last run of each task did not fail',
  needs: 'rows',
  examine: async () => {
    const locks = await listLocks()
    const stale = locks.filter(isStale)
    if (stale.length > 0) {
      throw new Ailment(
        `dead runs hold ${counted(stale.length, 'lock')}`,
        'run gitstead doctor --fix, or run the task again: both release the lock',
        stale.map(({ task }) => task)
      )
    }
    const failed = [...(await lastRuns()).values()].filter(({ state }) => state === 'failed')
    if (failed.length === 0)
      return locks.length === 0 ? 'no task runs' : `running: ${locks.map(({ task }) => task).join(', ')}`
    throw new Ailment(
      `the last run of ${counted(failed.length, 'task')} failed`,
      `run it by hand: gitstead maintenance run ${failed[0]?.task}`,
      failed.map(({ task, error }) => `${task}: ${error?.split('\n', 1)[0]}`)
    )
  },
  mend: async () => {
    const released = await releaseStaleLocks()
    if (released.length === 0) throw new Error('read why the task failed: gitstead maintenance last')
    return `released ${released.join(', ')}`
  }
}
