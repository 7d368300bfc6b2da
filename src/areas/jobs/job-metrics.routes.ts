import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { jobStats, processMetrics, queueMetrics } from '../../queue/metrics.js'
import { Process } from './job-overview.view.js'

const Queues = Type.Record(Type.String(), Type.Object({ backlog: Type.Integer(), latency: Type.Number() }))
const Processes = Type.Array(Process)
const Jobs = Type.Object({ processed: Type.Integer(), failed: Type.Integer(), enqueued: Type.Integer() })

export const jobMetricsRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'job.read' as const }
  const tags = ['Background-job metrics']
  const answer = <T extends object>(fields: T) => ({ tags, response: { 200: fields } })

  app.get('/bgjobs/queue_metrics', { config, schema: answer(Type.Object({ queues: Queues })) }, async () => ({
    queues: await queueMetrics()
  }))

  app.get('/bgjobs/process_metrics', { config, schema: answer(Type.Object({ processes: Processes })) }, async () => ({
    processes: await processMetrics()
  }))

  app.get('/bgjobs/job_stats', { config, schema: answer(Type.Object({ jobs: Jobs })) }, async () => ({
    jobs: await jobStats()
  }))

  app.get(
    '/bgjobs/compound_metrics',
    { config, schema: answer(Type.Object({ queues: Queues, processes: Processes, jobs: Jobs })) },
    async () => {
      const [queues, processes, jobs] = await Promise.all([queueMetrics(), processMetrics(), jobStats()])
      return { queues, processes, jobs }
    }
  )
}
