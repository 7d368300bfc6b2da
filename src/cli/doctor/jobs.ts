// Workers and what they do: jobs, ref changes, hooks, maintenance.
import { hooksHealth } from '../../areas/hooks/hooks.queries.js'
import { releaseStaleLocks, runTask } from '../../areas/maintenance/maintenance.js'
import { lastRuns } from '../../areas/maintenance/maintenance.queries.js'
import { isStale, listLocks } from '../../areas/maintenance/maintenance-lock.js'
import { abandonedChanges, settleOpenChanges } from '../../areas/refs/recovery.js'
import { findLostRemovals } from '../../areas/removal/unfinished-removals.js'
import { pausedQueues } from '../../queue/administer.js'
import { deadJobs, lostJobs } from '../../queue/inspect.js'
import { processMetrics, queueMetrics } from '../../queue/metrics.js'
import { reapProcesses } from '../../queue/processes.js'
import { allowedRanges } from '../../webhooks/target.js'
import { commandOrigin } from '../origin.js'
import { Ailment, type Check, count } from './check.js'

/** Seconds that the oldest job of a queue may have waited; a build waits for all that came before it. */
const LONGEST_WAIT: { readonly [queue: string]: number } = { builds: 86_400, maintenance: 7200 }
const USUAL_WAIT = 600

export const workersCheck: Check = {
  name: 'workers',
  about: 'a worker runs wherever a server does',
  needs: 'rows',
  examine: async ({ serverUp }) => {
    const workers = await processMetrics()
    if (workers.length === 0 && serverUp) {
      throw new Ailment('no worker runs: builds, hooks and pipelines wait', 'start one: gitstead worker')
    }
    return workers.length === 0 ? 'none, as the appliance is down' : `${count(workers.length, 'worker')} at work`
  }
}

export const jobsCheck: Check = {
  name: 'jobs',
  about: 'no job is held by a process that is gone',
  needs: 'rows',
  examine: async () => {
    const lost = await lostJobs()
    if (lost.length === 0) return 'none is held by a process that is gone'
    throw new Ailment(
      `${count(lost.length, 'job')} held by a process that is gone`,
      'start a worker, or gitstead doctor --fix: they go back into their queue',
      lost.slice(0, 20).map(id => `job ${id}`)
    )
  },
  mend: async () => {
    const before = (await lostJobs()).length
    await reapProcesses()
    return `gave ${count(before, 'job')} back`
  }
}

export const deadJobsCheck: Check = {
  name: 'dead_jobs',
  about: 'no job was given up',
  needs: 'rows',
  examine: async () => {
    const dead = await deadJobs()
    if (dead.length === 0) return 'none'
    throw new Ailment(
      `${count(
        dead.reduce((sum, { count: some }) => sum + some, 0),
        'job'
      )} failed for good`,
      'read why: gitstead jobs list --state dead; then gitstead jobs retry or discard',
      dead.map(({ name, count: some }) => `${name}: ${some}`)
    )
  }
}

export const queuesCheck: Check = {
  name: 'queues',
  about: 'no queue falls behind while a worker runs',
  needs: 'rows',
  examine: async () => {
    const [metrics, paused, workers] = await Promise.all([queueMetrics(), pausedQueues(), processMetrics()])
    const late = Object.entries(metrics).filter(
      ([queue, { latency }]) => latency > (LONGEST_WAIT[queue] ?? USUAL_WAIT) && !paused.includes(queue)
    )
    const said = paused.length > 0 ? `paused: ${paused.join(', ')}` : 'none is paused'
    if (late.length === 0 || workers.length === 0) return said
    throw new Ailment(
      'jobs wait for too long',
      'look at the workers: gitstead jobs stats; raise queue.concurrency, or start another worker',
      late.map(([queue, { backlog, latency }]) => `${queue}: ${backlog} wait, the oldest for ${Math.round(latency)} s`)
    )
  }
}

export const refChangesCheck: Check = {
  name: 'ref_changes',
  about: 'every change of a ref whose process is gone is settled',
  needs: 'rows',
  examine: async () => {
    const open = await abandonedChanges()
    if (open === 0) return 'none is left open'
    throw new Ailment(
      `${count(open, 'change')} of refs left open by processes that are gone`,
      'start a worker, or gitstead doctor --fix: the refs tell what became of them'
    )
  },
  mend: async () => {
    const before = await abandonedChanges()
    await settleOpenChanges()
    return `settled ${count(before - (await abandonedChanges()), 'change')}`
  }
}

export const removalsCheck: Check = {
  name: 'removals',
  about: 'what is left of every removed project has a job that removes it',
  needs: 'rows',
  examine: async () => {
    const lost = await findLostRemovals()
    if (lost.length === 0) return 'none is left'
    throw new Ailment(
      `the removal of ${count(lost.length, 'project')} was given up`,
      'gitstead doctor --fix gives each a job again',
      lost.slice(0, 20).map(({ project_id, path_with_namespace: path }) => `project ${project_id}: ${path}`)
    )
  },
  mend: async () => `gave ${count((await runTask('unfinished_removals', {}, commandOrigin())).count, 'removal')} a job`
}

export const hooksCheck: Check = {
  name: 'hooks',
  about: 'no system hook rests because its receiver fails',
  needs: 'rows',
  examine: async () => {
    const allowed = `${count(allowedRanges().length, 'range')} allowed beside public addresses`
    const health = [...(await hooksHealth()).values()]
    const resting = health.filter(({ resting_until }) => resting_until !== null)
    if (resting.length === 0) return `${count(health.length, 'hook')}; ${allowed}`
    throw new Ailment(
      `${count(resting.length, 'hook')} of ${health.length} cannot be delivered to`,
      'mend the receiver, or remove the hook: gitstead hooks list',
      resting.map(hook => `hook ${hook.id}: ${hook.failures} failures in a row, ${hook.pending} deliveries wait`)
    )
  }
}

export const maintenanceCheck: Check = {
  name: 'maintenance',
  about: 'no lock is left by a dead run, and the last run of each task ended well',
  needs: 'rows',
  examine: async () => {
    const locks = await listLocks()
    const stale = locks.filter(isStale)
    if (stale.length > 0) {
      throw new Ailment(
        `${count(stale.length, 'lock')} held by runs that are gone`,
        'gitstead doctor --fix; the next run of the task takes it as well',
        stale.map(({ task }) => task)
      )
    }
    const failed = [...(await lastRuns()).values()].filter(({ state }) => state === 'failed')
    if (failed.length === 0)
      return locks.length === 0 ? 'nothing runs' : `runs: ${locks.map(({ task }) => task).join(', ')}`
    throw new Ailment(
      `the last run of ${count(failed.length, 'task')} failed`,
      `run it by hand: gitstead maintenance run ${failed[0]?.task}`,
      failed.map(({ task, error }) => `${task}: ${error?.split('\n', 1)[0]}`)
    )
  },
  mend: async () => {
    const released = await releaseStaleLocks()
    if (released.length === 0) throw new Error('why a task failed, its record tells')
    return `released ${released.join(', ')}`
  }
}
