// Prometheus metrics about this process, its requests, and the queues in the database.
import type { FastifyInstance } from 'fastify'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { DOORS, OUTCOMES, signIns } from '../areas/ground/audit/sign-in-counts.js'
import { countMachines } from '../cluster/machine-rows.js'
import { hasReplica, replicaState } from '../db/connect/replica.js'
import { readerCount } from '../git/objects/reader.js'
import { slotCounts } from '../git/process/slots.js'
import { spooledBytes } from '../git/transport/spool.js'
import { jobStats, processMetrics, queueMetrics } from '../queue/metrics.js'
import { bucketReport } from '../storage/s3.js'
import { revision, version } from '../version.js'
import { applianceMetrics } from './appliance-metrics.js'
import { sshCounts } from './ssh/counts.js'

export const registry = new Registry()

const seconds = new Histogram({
  name: 'gitstead_http_request_duration_seconds',
  help: 'Seconds that requests took, by method, route and status',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.005, 0.02, 0.1, 0.5, 2, 10],
  registers: [registry]
})

gauge('gitstead_info', 'Version and revision of the server; always 1', ['version', 'revision']).set(
  { version, revision },
  1
)
const backlog = gauge('gitstead_queue_backlog', 'Jobs that are ready', ['queue'])
const latency = gauge('gitstead_queue_latency_seconds', 'Seconds that the oldest ready job has waited', ['queue'])
const processed = gauge('gitstead_jobs_processed', 'Tries of jobs that have ended')
const failed = gauge('gitstead_jobs_failed', 'Tries of jobs that have failed')
const enqueued = gauge('gitstead_jobs_enqueued', 'Jobs that are ready, delayed or running')
const workers = gauge('gitstead_worker_processes', 'Worker processes that are registered')
const machines = gauge('gitstead_machines', 'Machines whose lease has not ended')
const busy = gauge('gitstead_worker_busy', 'Jobs that run now')
const gitProcesses = gauge('gitstead_git_processes', 'git processes of this server that run or wait', ['state'])
const gitReaders = gauge('gitstead_git_readers', 'Long-lived readers of repositories of this server')
const gitSpooled = gauge('gitstead_git_spooled_bytes', 'Bytes of git requests and answers in temporary files')
const sshConnections = gauge('gitstead_ssh_connections', 'Open connections of git over SSH of this server')
const sshRefused = gauge('gitstead_ssh_refused', 'SSH connections that were refused or cut because of a limit')
const sshWrongKeys = gauge('gitstead_ssh_wrong_keys', 'Keys of SSH clients that were refused')
const sshCommands = gauge('gitstead_ssh_commands', 'Commands of git over SSH that have ended', ['outcome'])
const signInCounts = gauge('gitstead_sign_ins', 'Attempts of people to sign in to this server', ['door', 'outcome'])
const bucketUp = gauge(
  'gitstead_bucket_up',
  'Whether the last request to the bucket of files was answered; NaN without a bucket'
)
const bucketRequests = gauge('gitstead_bucket_requests', 'Requests of this server to the bucket', [
  'operation',
  'outcome'
])
const bucketSeconds = gauge('gitstead_bucket_seconds', 'Seconds that these requests took until their answers began')
const bucketOpen = gauge('gitstead_bucket_open', 'Requests to the bucket that are open', ['state'])
const updateAppliance = applianceMetrics(gauge)
const replicaUp = gauge('gitstead_replica_up', 'Whether reads go to the replica of the database')
const replicaLateness = gauge(
  'gitstead_replica_lateness_seconds',
  'Seconds that the replica was behind at the last look'
)
const replicaFailed = gauge(
  'gitstead_replica_failed_reads',
  'Reads that failed at the replica, and went to the writing server'
)
const database = gauge('gitstead_database_up', 'Whether the database answers')

function gauge(name: string, help: string, labelNames: string[] = []): Gauge {
  return new Gauge({ name, help, labelNames, registers: [registry] })
}

/** Without `database.read_url`, these metrics have no value. */
function noteReplica(): void {
  if (!hasReplica()) return
  const { up, lateMs, failed } = replicaState()
  replicaUp.set(Number(up))
  replicaFailed.set(failed)
  replicaLateness.set(lateMs === null ? Number.NaN : lateMs / 1000)
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

function measureBucket(): void {
  const report = bucketReport()
  bucketUp.set(report ? Number(report.state === null) : Number.NaN)
  if (!report) return
  for (const [key, number] of report.counts) {
    const [operation = '', outcome = ''] = key.split(' ')
    bucketRequests.set({ operation, outcome }, number)
  }
  bucketSeconds.set(report.seconds)
  bucketOpen.set({ state: 'running' }, report.open)
  bucketOpen.set({ state: 'waiting' }, report.waiting)
}

/** Returns all metrics in the text format. While the database is unavailable, the metrics of the queues keep their last values. */
export async function metricsText(): Promise<{ text: string; type: string }> {
  measureProcess()
  measureBucket()
  const { running, waiting } = slotCounts()
  gitProcesses.set({ state: 'running' }, running)
  gitProcesses.set({ state: 'waiting' }, waiting)
  gitReaders.set(readerCount())
  gitSpooled.set(spooledBytes())
  for (const door of DOORS) {
    for (const outcome of OUTCOMES) signInCounts.set({ door, outcome }, signIns(door, outcome))
  }
  sshConnections.set(sshCounts.connections)
  sshRefused.set(sshCounts.refused)
  sshWrongKeys.set(sshCounts.wrongKeys)
  sshCommands.set({ outcome: 'done' }, sshCounts.done)
  sshCommands.set({ outcome: 'failed' }, sshCounts.failed)
  try {
    const [queues, processes, jobs, living] = await Promise.all([
      queueMetrics(),
      processMetrics(),
      jobStats(),
      countMachines(),
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
    machines.set(living)
    busy.set(processes.reduce((sum, process) => sum + process.busy, 0))
    database.set(1)
    noteReplica()
  } catch {
    database.set(0)
  }
  return { text: await registry.metrics(), type: registry.contentType }
}
