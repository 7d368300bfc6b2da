import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { TSchema } from '../../../lib/type.js'
import { jobStats, processMetrics, queueMetrics } from '../../../queue/metrics.js'
import { CompoundMetrics, JobStats, ProcessMetrics, QueueMetrics } from './job-metrics.view.js'

export const jobMetricsRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'job.read' as const }
  const tags = ['Background-job metrics']
  const schema = <T extends TSchema>(summary: string, view: T) => ({ tags, summary, response: { 200: view } })

  app.get(
    '/bgjobs/queue_metrics',
    { config, schema: schema('Get the backlog and latency of each queue', QueueMetrics) },
    async () => ({
      queues: await queueMetrics()
    })
  )

  app.get(
    '/bgjobs/process_metrics',
    { config, schema: schema('Get the worker processes', ProcessMetrics) },
    async () => ({
      processes: await processMetrics()
    })
  )

  app.get('/bgjobs/job_stats', { config, schema: schema('Get the counts of background jobs', JobStats) }, async () => ({
    jobs: await jobStats()
  }))

  app.get(
    '/bgjobs/compound_metrics',
    { config, schema: schema('Get all metrics of background jobs', CompoundMetrics) },
    async () => {
      const [queues, processes, jobs] = await Promise.all([queueMetrics(), processMetrics(), jobStats()])
      return { queues, processes, jobs }
    }
  )
}
