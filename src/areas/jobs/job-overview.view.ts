// Not specified: the record of the dashboard. Rates are a minute's; latency is in seconds.
import { type Static, Type } from 'typebox'
import { DateTime, Nullable } from '../../lib/schema.js'
import type { QueueOverview, QueuesOverview } from '../../queue/overview.js'
import type { RunningBuild } from '../builds/running.queries.js'

const Queue = Type.Object({
  name: Type.String(),
  paused: Type.Boolean(),
  ready: Type.Integer({ description: 'the backlog' }),
  delayed: Type.Integer(),
  running: Type.Integer(),
  dead: Type.Integer(),
  latency: Type.Number({ description: 'seconds that the oldest ready job has waited' }),
  processed_per_minute: Type.Number({ description: 'tries that ended, over the current minute and the one before' }),
  failed_per_minute: Type.Number(),
  minutes: Type.Array(Type.Object({ minute: DateTime, processed: Type.Integer(), failed: Type.Integer() }), {
    description: 'the last hour, oldest first; the last one is under way'
  })
})

/** A worker process, as the metrics and the dashboard show it. */
export const Process = Type.Object({
  hostname: Type.String(),
  pid: Type.Integer(),
  tag: Type.String(),
  started_at: DateTime,
  queues: Type.Array(Type.String()),
  labels: Type.Array(Type.String()),
  concurrency: Type.Integer(),
  busy: Type.Integer()
})

const Failure = Type.Object({
  id: Type.Integer(),
  queue: Type.String(),
  name: Type.String(),
  state: Type.String({ description: 'delayed or dead' }),
  attempts: Type.Integer(),
  run_at: DateTime,
  failed_at: DateTime,
  error: Type.String({ description: 'its first 2,000 characters' }),
  payload: Type.Unknown({ description: 'null where it is longer than 4,000 bytes: the job itself has it' })
})

const Build = Type.Object({
  id: Type.Integer(),
  project_id: Type.Integer(),
  project: Type.String(),
  name: Type.String(),
  stage: Type.String(),
  ref: Type.String(),
  started_at: Nullable(DateTime),
  hostname: Nullable(Type.String()),
  pid: Nullable(Type.Integer())
})

export const JobOverview = Type.Object({
  at: DateTime,
  queues: Type.Array(Queue),
  processes: Type.Array(Process),
  failures: Type.Array(Failure),
  builds: Type.Array(Build),
  totals: Type.Object({
    processed: Type.Integer({ description: 'since the appliance was made' }),
    failed: Type.Integer(),
    ready: Type.Integer(),
    delayed: Type.Integer(),
    running: Type.Integer(),
    dead: Type.Integer()
  })
})
export type JobOverview = Static<typeof JobOverview>

export const viewJobOverview = (found: QueuesOverview & { builds: RunningBuild[]; at: Date }): JobOverview => ({
  at: found.at,
  queues: found.queues.map(viewQueue),
  processes: found.processes.map(process => ({
    hostname: process.hostname,
    pid: process.pid,
    tag: process.tag,
    started_at: process.started_at,
    queues: process.queues,
    labels: process.labels,
    concurrency: process.concurrency,
    busy: process.busy
  })),
  failures: found.failures.map(failure => ({
    id: failure.id,
    queue: failure.queue,
    name: failure.name,
    state: failure.state,
    attempts: failure.attempts,
    run_at: failure.run_at,
    failed_at: failure.failed_at,
    error: failure.error,
    payload: failure.payload === null ? null : (JSON.parse(failure.payload) as unknown)
  })),
  builds: found.builds.map(build => ({
    id: build.id,
    project_id: build.project_id,
    project: build.project,
    name: build.name,
    stage: build.stage,
    ref: build.ref,
    started_at: build.started_at,
    hostname: build.hostname,
    pid: build.pid
  })),
  totals: {
    processed: found.totals.processed,
    failed: found.totals.failed,
    ready: found.totals.ready,
    delayed: found.totals.delayed,
    running: found.totals.running,
    dead: found.totals.dead
  }
})

const viewQueue = (queue: QueueOverview) => ({
  name: queue.name,
  paused: queue.paused,
  ready: queue.ready,
  delayed: queue.delayed,
  running: queue.running,
  dead: queue.dead,
  latency: queue.latency,
  processed_per_minute: round(queue.processed_per_minute),
  failed_per_minute: round(queue.failed_per_minute),
  minutes: queue.minutes.map(({ minute, processed, failed }) => ({ minute, processed, failed }))
})

const round = (rate: number) => Math.round(rate * 10) / 10
