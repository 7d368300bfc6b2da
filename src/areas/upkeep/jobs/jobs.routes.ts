// Not specified: these routes show and change single jobs, for a dashboard on another machine.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '../../../lib/type.js'
import { findJob, pageJobs } from '../../../queue/administer.js'
import { searchJobs } from '../../../queue/search.js'
import { jobOverview } from './job-overview.js'
import { JobOverview } from './job-overview.view.js'
import { discardJobs, pauseQueue, resumeQueue, retryJobs } from './jobs.js'
import { JobParams, JobSearchQuery, JobsQuery, QueueParams } from './jobs.schema.js'
import { FoundJobs, Job, QueueState, viewFoundJobs, viewJob } from './jobs.view.js'

export const jobRoutes: FastifyPluginAsyncTypebox = async app => {
  const read = { can: 'job.read' as const }
  const change = { can: 'job.administer' as const }
  const tags = ['Background-job metrics']

  app.get(
    '/bgjobs/overview',
    { config: read, schema: { tags, summary: 'Get the contents of the dashboard', response: { 200: JobOverview } } },
    () => jobOverview()
  )

  app.get(
    '/bgjobs/jobs',
    {
      config: read,
      schema: {
        tags,
        summary: 'List background jobs',
        description: 'Newest first.',
        querystring: JobsQuery,
        response: { 200: Type.Array(Job) }
      }
    },
    async ({ query }, reply) => reply.page(await pageJobs(query), viewJob)
  )

  app.get(
    '/bgjobs/search',
    {
      config: read,
      schema: {
        tags,
        summary: 'Search all background jobs',
        description:
          'Newest first. One call searches at most 20,000 jobs: call again with `past` until `next` is null.',
        querystring: JobSearchQuery,
        response: { 200: FoundJobs }
      }
    },
    async ({ query }) => viewFoundJobs(await searchJobs(query))
  )

  app.get(
    '/bgjobs/jobs/:id',
    { config: read, schema: { tags, summary: 'Get a background job', params: JobParams, response: { 200: Job } } },
    async ({ params }) => viewJob(await findJob(params.id))
  )

  app.post(
    '/bgjobs/jobs/:id/retry',
    {
      config: change,
      schema: {
        tags,
        summary: 'Run a dead or delayed job again',
        description: 'The job runs at once, and all its tries are available again.',
        params: JobParams,
        response: { 201: Job }
      }
    },
    async ({ params, origin }, reply) => {
      const job = await findJob(params.id)
      await retryJobs([job.id], origin)
      // The job may have finished already, so the response shows the state that the retry set.
      return reply.code(201).send(viewJob({ ...job, state: 'ready', attempts: 0, crashes: 0, run_at: new Date() }))
    }
  )

  app.delete(
    '/bgjobs/jobs/:id',
    {
      config: change,
      schema: {
        tags,
        operationId: 'discardBackgroundJob',
        summary: 'Remove a job that is not running',
        params: JobParams,
        response: { 200: Job }
      }
    },
    async ({ params, origin }) => {
      const job = await findJob(params.id)
      await discardJobs([job.id], origin)
      return viewJob(job)
    }
  )

  app.post(
    '/bgjobs/queues/:queue/pause',
    {
      config: change,
      schema: {
        tags,
        summary: 'Stop workers from taking jobs of a queue',
        params: QueueParams,
        response: { 201: QueueState },
        errors: [400]
      }
    },
    async ({ params: { queue }, origin }, reply) => {
      await pauseQueue(queue, origin)
      return reply.code(201).send({ queue, paused: true })
    }
  )

  app.post(
    '/bgjobs/queues/:queue/resume',
    {
      config: change,
      schema: {
        tags,
        summary: 'Let workers take jobs of a queue again',
        params: QueueParams,
        response: { 201: QueueState },
        errors: [400]
      }
    },
    async ({ params: { queue }, origin }, reply) => {
      await resumeQueue(queue, origin)
      return reply.code(201).send({ queue, paused: false })
    }
  )
}
