// The endpoints for supervisors, load balancers and Prometheus.
import { statfs } from 'node:fs/promises'
import type { FastifyPluginAsync } from 'fastify'
import { config } from '../config.js'
import { FULL_BELOW } from '../db/embedded/temporary-tables.js'
import { requireDatabase } from '../db/schema/migrate.js'
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

export const healthRoutes: FastifyPluginAsync = async app => {
  lookAtDisk()
  app.get('/-/health', { config: { public: true } }, async (_request, reply) => {
    reply.header(INSTANCE_HEADER, instance)
    lookAtDisk()
    // The server answers, so a supervisor must not restart it: that would not free any space.
    return diskIsFull ? { status: 'degraded', disk: 'full' } : { status: 'ok' }
  })

  app.get('/-/readiness', { config: { public: true } }, async (_request, reply) => {
    try {
      await requireDatabase()
      return { status: 'ok', database: 'ok' }
    } catch {
      return reply.code(503).header('retry-after', '2').send({ status: 'unavailable', database: 'unavailable' })
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
