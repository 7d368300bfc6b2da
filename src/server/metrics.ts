// Prometheus metrics about this process, its requests, and the queues in the database.
import type { FastifyInstance } from 'fastify'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { readerCount } from '../git/objects/reader.js'
import { slotCounts } from '../git/process/slots.js'
import { spooledBytes } from '../git/transport/spool.js'
import { jobStats, processMetrics, queueMetrics } from '../queue/metrics.js'
import { applianceMetrics } from './appliance-metrics.js'
import { sshCounts } from './ssh/counts.js'

const registry = new Registry()

const seconds = new Histogram({
  name: 'gitstead_http_request_duration_seconds',
  help: 'Seconds that requests took, by method, route and status',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.005, 0.02, 0.1, 0.5, 2, 10],
  registers: [registry]
})

const backlog = gauge('gitstead_queue_backlog', 'Jobs that are ready', ['queue'])
const latency = gauge('gitstead_queue_latency_seconds', 'Seconds that the oldest ready job has waited', ['queue'])
const processed = gauge('gitstead_jobs_processed', 'Tries of jobs that have ended')
const failed = gauge('gitstead_jobs_failed', 'Tries of jobs that have failed')
const enqueued = gauge('gitstead_jobs_enqueued', 'Jobs that are ready, delayed or running')
const workers = gauge('gitstead_worker_processes', 'Worker processes that are registered')
const busy = gauge('gitstead_worker_busy', 'Jobs that run now')
const gitProcesses = gauge('gitstead_git_processes', 'git processes of this server that run or wait', ['state'])
const gitReaders = gauge('gitstead_git_readers', 'Long-lived readers of repositories of this server')
const gitSpooled = gauge('gitstead_git_spooled_bytes', 'Bytes of git requests and answers in temporary files')
const sshConnections = gauge('gitstead_ssh_connections', 'Open connections of git over SSH of this server')
const sshRefused = gauge('gitstead_ssh_refused', 'SSH connections that were refused or cut because of a limit')
const sshWrongKeys = gauge('gitstead_ssh_wrong_keys', 'Keys of SSH clients that were refused')
const sshCommands = gauge('gitstead_ssh_commands', 'Commands of git over SSH that have ended', ['outcome'])
const updateAppliance = applianceMetrics(gauge)
const database = gauge('gitstead_database_up', 'Whether the database answers')

function gauge(name: string, help: string, labelNames: string[] = []): Gauge {
  return new Gauge({ name, help, labelNames, registers: [registry] })
}

/** Measures the requests of an application. */
export function measureRequests(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    seconds.observe(
      { method: request.method, route: request.routeOptions.url ?? 'unknown', status: reply.statusCode },
      reply.elapsedTime / 1000
    )
    done()
  })
}

/**
 * The metrics of Node.js begin with the first request for metrics: the clock of the event loop ticks a hundred times a second,
 * which an appliance without Prometheus does not need.
 */
function measureProcess(): void {
  if (!registry.getSingleMetric('process_cpu_seconds_total')) collectDefaultMetrics({ register: registry })
}

/** Returns all metrics in the text format. While the database is unavailable, the metrics of the queues keep their last values. */
export async function metricsText(): Promise<{ text: string; type: string }> {
  measureProcess()
  const { running, waiting } = slotCounts()
  gitProcesses.set({ state: 'running' }, running)
  gitProcesses.set({ state: 'waiting' }, waiting)
  gitReaders.set(readerCount())
  gitSpooled.set(spooledBytes())
  sshConnections.set(sshCounts.connections)
  sshRefused.set(sshCounts.refused)
  sshWrongKeys.set(sshCounts.wrongKeys)
  sshCommands.set({ outcome: 'done' }, sshCounts.done)
  sshCommands.set({ outcome: 'failed' }, sshCounts.failed)
  try {
    const [queues, processes, jobs] = await Promise.all([
      queueMetrics(),
      processMetrics(),
      jobStats(),
      updateAppliance()
    ])
    for (const [queue, metrics] of Object.entries(queues)) {
      backlog.set({ queue }, metrics.backlog)
      latency.set({ queue }, metrics.latency)
    }
    processed.set(jobs.processed)
    failed.set(jobs.failed)
    enqueued.set(jobs.enqueued)
    workers.set(processes.length)
    busy.set(processes.reduce((sum, process) => sum + process.busy, 0))
    database.set(1)
  } catch {
    database.set(0)
  }
  return { text: await registry.metrics(), type: registry.contentType }
}
