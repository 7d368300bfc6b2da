import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { IdOf, projectParam } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { requirePipeline } from '../pipelines/pipelines.queries.js'
import { Pipeline, viewPipeline } from '../pipelines/pipelines.view.js'
import { cancelPipeline, retryPipeline } from './pipeline-actions.js'

const PipelineParams = Type.Object({ ...projectParam, pipeline_id: IdOf('the pipeline') })

export const pipelineActionRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'pipeline.write' as const }
  const tags = ['Pipelines']

  app.post(
    '/projects/:id/pipelines/:pipeline_id/retry',
    {
      config,
      schema: {
        tags,
        summary: 'Retry a pipeline',
        description: 'Creates new builds for those that failed or were canceled.',
        params: PipelineParams,
        response: { 201: Pipeline }
      }
    },
    async ({ project, params, origin }, reply) => {
      await retryPipeline(await requirePipeline(project.id, params.pipeline_id), origin)
      return reply.code(201).send(viewPipeline(await requirePipeline(project.id, params.pipeline_id)))
    }
  )

  app.post(
    '/projects/:id/pipelines/:pipeline_id/cancel',
    {
      config,
      schema: {
        tags,
        summary: 'Cancel a pipeline',
        description: 'Cancels its builds that have not ended.',
        params: PipelineParams,
        response: { 200: Pipeline }
      }
    },
    async ({ project, params, origin }) => {
      await cancelPipeline(await requirePipeline(project.id, params.pipeline_id), origin)
      return viewPipeline(await requirePipeline(project.id, params.pipeline_id))
    }
  )
}
