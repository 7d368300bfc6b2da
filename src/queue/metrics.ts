// The figures of the queues for the dashboard, the command line and the API; all of them use these functions.
import { marks, row, rows } from '../db/connect/sql.js'
import { type JobName, jobs, QUEUES } from './jobs.js'

export interface QueueMetrics {
  /** Number of ready jobs. */
  readonly backlog: number
  /** Seconds that the oldest ready job has waited. */
  readonly latency: number
}

export interface ProcessMetrics {
  readonly hostname: string
  readonly pid: number
  readonly tag: string
  readonly started_at: Date
  // Mutable, as the schemas of the responses require.
  readonly queues: string[]
  readonly labels: string[]
  readonly concurrency: number
  readonly busy: number
}

export interface JobStats {
  readonly processed: number
  readonly failed: number
  /** Number of jobs that are ready, delayed or running. */
  readonly enqueued: number
}

/** Returns the backlog and the latency of every queue. */
export async function queueMetrics(): Promise<Record<string, QueueMetrics>> {
  const found = await rows<{ queue: string; backlog: number; oldest: Date }>(
    `select queue, count(*) as backlog, min(run_at) as oldest from jobs
     where queue in (${marks(QUEUES)}) and state = 'ready' group by queue`,
    QUEUES
  )
  const now = Date.now()
  const metrics = Object.fromEntries(QUEUES.map(queue => [queue, { backlog: 0, latency: 0 }]))
  for (const { queue, backlog, oldest } of found) {
    metrics[queue] = { backlog, latency: Math.max(0, (now - oldest.getTime()) / 1000) }
  }
  return metrics
}

/** Returns the registered worker processes. `busy` is at most `concurrency`, because a process may hold more jobs than it runs. */
export async function processMetrics(): Promise<ProcessMetrics[]> {
  const found = await rows<Omit<ProcessMetrics, 'queues' | 'labels'> & { queues: string; labels: string }>(
    `select hostname, pid, tag, started_at, queues, labels, concurrency, least(concurrency,
       (select count(*) from jobs where process_id = job_processes.id and state = 'running')) as busy
     from job_processes order by id`
  )
  return found.map(({ queues, labels, busy, ...rest }) => ({
    ...rest,
    // The driver returns `least` of a count and an integer as text, because it is a decimal.
    busy: Number(busy),
    queues: JSON.parse(queues) as string[],
    labels: JSON.parse(labels) as string[]
  }))
}

/** Returns the payloads, as JSON, of all jobs with this name that are ready, delayed or running. */
export async function enqueuedPayloads(name: JobName): Promise<Set<string>> {
  const found = await rows<{ payload: string }>(
    "select payload from jobs where queue = ? and name = ? and state in ('ready', 'delayed', 'running')",
    [jobs[name].queue, name]
  )
  return new Set(found.map(({ payload }) => payload))
}

/** Returns how many jobs with a name are ready, or will be at a given time. It stops counting at `most`. */
export async function countWaitingJobs(name: JobName, { until, most }: { until: Date; most: number }): Promise<number> {
  const found = await row<{ count: number }>(
    `select count(*) as count from (select id from jobs
       where queue = ? and state in ('ready', 'delayed') and name = ? and run_at <= ? limit ${Math.trunc(most)}) waiting`,
    [jobs[name].queue, name, until]
  )
  return found?.count ?? 0
}

/** Returns the counts since the appliance was installed. */
export async function jobStats(): Promise<JobStats> {
  const found = await row<JobStats>(
    `select
       (select value from job_totals where name = 'processed') + (select coalesce(sum(processed), 0) from job_processes) as processed,
       (select value from job_totals where name = 'failed') + (select coalesce(sum(failed), 0) from job_processes) as failed,
       (select count(*) from jobs where state in ('ready', 'delayed', 'running')) as enqueued`
  )
  const { processed, failed, enqueued } = found ?? { processed: 0, failed: 0, enqueued: 0 }
  return { processed: Number(processed), failed: Number(failed), enqueued: Number(enqueued) }
}
