import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { NotFound } from '../../errors.js'
import { ProjectParams } from '../../lib/schema.js'
import { findPipeline, listPipelines } from './pipelines.queries.js'
import { PipelineListQuery, PipelineParams } from './pipelines.schema.js'
import { Pipeline, viewPipeline } from './pipelines.view.js'

export const pipelineRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'pipeline.read' as const }
  const tags = ['Pipelines']

  app.get(
    '/projects/:id/pipelines',
    {
      config,
      schema: {
        tags,
        summary: 'List the pipelines of a project',
        description: 'The newest first.',
        params: ProjectParams,
        querystring: PipelineListQuery,
        response: { 200: Type.Array(Pipeline) }
      }
    },
    async ({ project, query }, reply) => reply.page(await listPipelines(project.id, query), viewPipeline)
  )

  app.get(
    '/projects/:id/pipelines/:pipeline_id',
    { config, schema: { tags, summary: 'Get a pipeline', params: PipelineParams, response: { 200: Pipeline } } },
    async ({ project, params }) => {
      const pipeline = await findPipeline(project.id, params.pipeline_id)
      if (!pipeline) throw new NotFound()
      return viewPipeline(pipeline)
    }
  )
}
