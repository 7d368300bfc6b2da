// What a supervisor, a load balancer and Prometheus ask.
import type { FastifyPluginAsync } from 'fastify'
import { requireDatabase } from '../db/migrate.js'
import { metricsText } from './metrics.js'

export const healthRoutes: FastifyPluginAsync = async app => {
  app.get('/-/health', { config: { public: true } }, async () => ({ status: 'ok' }))

  app.get('/-/readiness', { config: { public: true } }, async (_request, reply) => {
    try {
      await requireDatabase()
      return { status: 'ok', database: 'ok' }
    } catch {
      return reply.code(503).header('retry-after', '2').send({ status: 'unavailable', database: 'unavailable' })
    }
  })

  // Not specified: whom to tell. Counts of work say nothing about users, but are nobody's business outside either:
  // a proxy closes /-/ to the world, as the example configuration does.
  app.get('/-/metrics', { config: { public: true } }, async (_request, reply) => {
    const { text, type } = await metricsText()
    return reply.type(type).send(text)
  })
}
