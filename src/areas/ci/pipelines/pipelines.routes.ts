import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { listPipelines, requirePipeline } from './pipelines.queries.js'
import { PipelineBody, PipelineListQuery, PipelineParams } from './pipelines.schema.js'
import { Pipeline, viewPipeline } from './pipelines.view.js'
import { createPipelineOf } from './requested-pipelines.js'

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
        description: 'Newest first.',
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
    async ({ project, params }) => viewPipeline(await requirePipeline(project.id, params.pipeline_id))
  )

  app.post(
    '/projects/:id/pipeline',
    {
      config: { can: 'pipeline.write' },
      schema: {
        tags,
        summary: 'Create a pipeline of a branch or tag',
        description: 'Ignores a skip marker in the message of the commit.',
        params: ProjectParams,
        body: PipelineBody,
        response: { 201: Pipeline }
      }
    },
    async ({ project, body, origin }, reply) => {
      const id = await createPipelineOf(project, body.ref, origin)
      return reply.code(201).send(viewPipeline(await requirePipeline(project.id, id)))
    }
  )
}
