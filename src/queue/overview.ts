// The figures that the dashboard shows, read with a fixed number of statements that stay fast with 100k jobs.
import { forgetWithPool } from '../db/connect/connection.js'
import { row, rows } from '../db/connect/sql.js'
import { pausedQueues } from './administer.js'
import { queueMinutes, ratesOf } from './history.js'
import { QUEUES, type Queue } from './jobs.js'
import { type ProcessMetrics, processMetrics } from './metrics.js'

/** Maximum number of failures that are shown. */
const FAILURES = 50
/** Number of stored failures that are searched for the shown ones. Jobs that are ready or running again are not shown. */
const LOOKED_THROUGH = 1000
/** Bytes. The list omits a longer payload; the record of the single job shows it. */
const LONGEST_PAYLOAD = 4000
const LONGEST_ERROR = 2000

export interface QueueOverview {
  readonly name: Queue
  readonly paused: boolean
  readonly ready: number
  readonly delayed: number
  readonly running: number
  readonly dead: number
  readonly latency: number
  readonly processed_per_minute: number
  readonly failed_per_minute: number
  /** The minutes of the last hour, oldest first. The last one is not over yet. */
  readonly minutes: readonly { readonly minute: Date; readonly processed: number; readonly failed: number }[]
}

interface FailureRow {
  readonly id: number
  readonly queue: Queue
  readonly name: string
  readonly state: 'delayed' | 'dead'
  readonly attempts: number
  readonly run_at: Date
  readonly failed_at: Date
  readonly error: string
  /** Null when the payload is longer than 4,000 bytes. */
  readonly payload: string | null
}

interface Totals {
  readonly processed: number
  readonly failed: number
  readonly ready: number
  readonly delayed: number
  readonly running: number
  readonly dead: number
}

export interface QueuesOverview {
  readonly queues: readonly QueueOverview[]
  readonly processes: readonly ProcessMetrics[]
  readonly failures: readonly FailureRow[]
  readonly totals: Totals
}

/** Returns everything that the dashboard shows about the queues. When there are many jobs, their counts may be slightly out of date. */
export async function queuesOverview(): Promise<QueuesOverview> {
  const [counts, paused, minutes, processes, failures, ended] = await Promise.all([
    jobCounts(),
    pausedQueues(),
    queueMinutes(),
    processMetrics(),
    recentFailures(),
    endedJobs()
  ])
  const now = Date.now()
  const queues = QUEUES.map((name): QueueOverview => {
    const { oldest, ...states } = counts.get(name) ?? none()
    const rates = ratesOf(minutes[name], now)
    return {
      name,
      paused: paused.includes(name),
      ...states,
      latency: oldest ? Math.max(0, now - oldest.getTime()) / 1000 : 0,
      processed_per_minute: rates.processed,
      failed_per_minute: rates.failed,
      minutes: minutes[name]
    }
  })
  const sum = (state: 'ready' | 'delayed' | 'running' | 'dead') => queues.reduce((all, queue) => all + queue[state], 0)
  return {
    queues,
    processes,
    failures,
    totals: { ...ended, ready: sum('ready'), delayed: sum('delayed'), running: sum('running'), dead: sum('dead') }
  }
}

export interface Counts {
  readonly ready: number
  readonly delayed: number
  readonly running: number
  readonly dead: number
  /** When the oldest ready job became ready. */
  readonly oldest: Date | null
}

const none = (): Counts => ({ ready: 0, delayed: 0, running: 0, dead: 0, oldest: null })

// Counting 100k jobs in the index takes about 13 ms. For any number of jobs and viewers, counting may take at most a
// fiftieth of the time.
const SHARE = 50
const MANY = 10_000
let counted: { counts: Map<string, Counts>; until: number } | undefined
let counting: Promise<Map<string, Counts>> | undefined

forgetWithPool(() => {
  counted = undefined
})

/** Returns the counts of jobs by queue. When there are many jobs, the counts may be slightly out of date. */
export async function jobCounts(): Promise<Map<string, Counts>> {
  if (counted && counted.until > performance.now()) return counted.counts
  counting ??= countJobs().finally(() => (counting = undefined))
  return counting
}

async function countJobs(): Promise<Map<string, Counts>> {
  const started = performance.now()
  const found = await rows<{ queue: string; state: keyof Totals; count: number; oldest: Date }>(
    'select queue, state, count(*) as count, min(run_at) as oldest from jobs group by queue, state'
  )
  const counts = new Map<string, Counts>(QUEUES.map(queue => [queue, none()]))
  for (const { queue, state, count, oldest } of found) {
    const known = counts.get(queue) ?? none()
    counts.set(queue, { ...known, [state]: count, ...(state === 'ready' ? { oldest } : {}) })
  }
  const total = found.reduce((sum, { count }) => sum + count, 0)
  const ended = performance.now()
  // A small number of jobs is counted very quickly, so it is counted again at every request.
  counted = total < MANY ? undefined : { counts, until: ended + (ended - started) * SHARE }
  return counts
}

/** Returns failed jobs that are still delayed or dead; the newest failure comes first. */
async function recentFailures(): Promise<FailureRow[]> {
  return rows<FailureRow>(
    `select j.id, j.queue, j.name, j.state, j.attempts, j.run_at, f.failed_at, left(j.error, ${LONGEST_ERROR}) as error,
       if(length(j.payload) <= ${LONGEST_PAYLOAD}, j.payload, null) as payload
     from (select job_id, failed_at from job_failures order by failed_at desc limit ${LOOKED_THROUGH}) f
       straight_join jobs j on j.id = f.job_id
     where j.state in ('delayed', 'dead') and j.error is not null
     order by f.failed_at desc, j.id desc limit ${FAILURES}`
  )
}

/** Returns the finished tries since the appliance was installed. */
async function endedJobs(): Promise<{ processed: number; failed: number }> {
  const found = await row<{ processed: string; failed: string }>(
    `select (select value from job_totals where name = 'processed') + coalesce(sum(processed), 0) as processed,
       (select value from job_totals where name = 'failed') + coalesce(sum(failed), 0) as failed from job_processes`
  )
  return { processed: Number(found?.processed ?? 0), failed: Number(found?.failed ?? 0) }
}
