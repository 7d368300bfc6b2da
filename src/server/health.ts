// The endpoints for supervisors, load balancers and Prometheus.
import type { FastifyPluginAsync } from 'fastify'
import { requireDatabase } from '../db/schema/migrate.js'
import { INSTANCE_HEADER, instance } from './instance.js'
import { metricsText } from './metrics.js'
import { metricsRanges, requireMetricsAccess } from './metrics-access.js'

export const healthRoutes: FastifyPluginAsync = async app => {
  app.get('/-/health', { config: { public: true } }, async (_request, reply) => {
    reply.header(INSTANCE_HEADER, instance)
    return { status: 'ok' }
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
