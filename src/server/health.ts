// The endpoints for supervisors, load balancers and Prometheus.
import { statfs } from 'node:fs/promises'
import type { FastifyPluginAsync } from 'fastify'
import { hasLostLease, lookWhetherDrained } from '../cluster/machines.js'
import { config } from '../config.js'
import { FULL_BELOW } from '../db/embedded/temporary-tables.js'
import { bucketReport, requireBucket } from '../storage/s3.js'
import { INSTANCE_HEADER, instance } from './instance.js'
import { metricsText } from './metrics.js'
import { metricsRanges, requireMetricsAccess } from './metrics-access.js'

/** An answer does not wait for the disk, which may hang: it reports what the last look has found. */
let diskIsFull = false
let looking = false

function lookAtDisk(): void {
  if (looking) return
  looking = true
  statfs(config().home)
    .then(({ bavail, bsize }) => {
      diskIsFull = bavail * bsize < FULL_BELOW
    })
    .catch(() => undefined)
    .finally(() => {
      looking = false
    })
}

/** Milliseconds. Most requests need no bucket, so nothing else would notice that it is back, or away. */
const BUCKET_LOOK_MS = 30_000
let lookedAtBucket = Number.NEGATIVE_INFINITY

/** Returns what is wrong with the bucket, if anything, as the last requests have found it. */
function bucketFaults(): { bucket?: string } {
  const report = bucketReport()
  if (!report) return {}
  const now = performance.now()
  if (now - lookedAtBucket > BUCKET_LOOK_MS) {
    lookedAtBucket = now
    void requireBucket().catch(() => undefined)
  }
  return report.state === null ? {} : { bucket: report.state }
}

export const healthRoutes: FastifyPluginAsync = async app => {
  lookAtDisk()
  app.get('/-/health', { config: { public: true } }, async (_request, reply) => {
    reply.header(INSTANCE_HEADER, instance)
    lookAtDisk()
    // The server answers, so a supervisor must not restart it: that would not free any space.
    const faults = { ...(diskIsFull && { disk: 'full' }), ...bucketFaults() }
    return { status: Object.keys(faults).length > 0 ? 'degraded' : 'ok', ...faults }
  })

  app.get('/-/readiness', { config: { public: true } }, async (_request, reply) => {
    const refuse = (answer: object) => reply.code(503).header('retry-after', '2').send(answer)
    try {
      if (await lookWhetherDrained()) return refuse({ status: 'draining', database: 'ok' })
      if (hasLostLease()) return refuse({ status: 'unavailable', database: 'ok', machine: 'late' })
      const faults = bucketFaults()
      // Without the bucket, the server still answers everything but requests for files in it.
      return { status: faults.bucket ? 'degraded' : 'ok', database: 'ok', ...faults }
    } catch {
      return refuse({ status: 'unavailable', database: 'unavailable' })
    }
  })

  // Not specified: access to the metrics. They show counts of work and nothing about users, but they would show outsiders
  // when an attack begins to hurt.
  const ranges = metricsRanges()
  app.get('/-/metrics', { config: { public: true } }, async (request, reply) => {
    await requireMetricsAccess(request, ranges)
    const { text, type } = await metricsText()
    return reply.type(type).send(text)
  })
}
