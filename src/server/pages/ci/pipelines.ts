import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { may } from '../../../access/authorize.js'
import { cancelPipeline, retryPipeline } from '../../../areas/ci/builds/pipeline-actions.js'
import { shownBuild } from '../../../areas/ci/builds/shown/build-lines.js'
import { listShownPipelines, readShownPipeline } from '../../../areas/ci/builds/shown/pipelines.js'
import { lastRuns, requirePipeline } from '../../../areas/ci/pipelines/pipelines.queries.js'
import { PipelineBody, PipelineListQuery } from '../../../areas/ci/pipelines/pipelines.schema.js'
import { viewPipeline } from '../../../areas/ci/pipelines/pipelines.view.js'
import { createPipelineOf } from '../../../areas/ci/pipelines/requested-pipelines.js'
import { viewCommitStatus } from '../../../areas/ci/pipelines/statuses/commit-statuses.view.js'
import { Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { path } from '../components.js'
import { show } from '../page-routes.js'
import { projectPath } from '../place.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { PipelineParams } from './params.js'
import { plotOf } from './plot.js'

const params = PipelineParams
const PLOTTED = 60

export const pipelinePages: FastifyPluginAsyncTypebox = async app => {
  const read = { can: 'pipeline.read' as const }
  const write = { can: 'pipeline.write' as const }

  app.get(
    '/:namespace/:project/pipelines',
    { config: read, schema: { querystring: PipelineListQuery } },
    async (request, reply) => {
      const { project, query, actor } = request
      const [found, runs] = await Promise.all([
        listShownPipelines(project, query, actor),
        lastRuns(project.id, PLOTTED)
      ])
      const pipelines = { ...found, items: found.items.map(viewPipeline) }
      return showCi(request, reply, 'ci/pipelines', { title: 'Pipelines', pipelines, plot: plotOf(runs) })
    }
  )

  app.get(
    '/:namespace/:project/pipelines/new',
    {
      config: write,
      schema: { querystring: Type.Object({ ref: Type.Optional(Text('the branch', { maxLength: 255 })) }) }
    },
    async (request, reply) => showForm(request, reply, request.query.ref ?? request.project.default_branch ?? '')
  )

  app.post(
    '/:namespace/:project/pipelines',
    { config: write, schema: { body: PipelineBody } },
    async (request, reply) => {
      const { project, body, origin } = request
      const id = await createPipelineOf(project, body.ref, origin).catch(refusalsOf)
      if (typeof id !== 'number') return showForm(request, reply.code(400), body.ref, id)
      return reply.redirect(pagePath(request, id), 303)
    }
  )

  app.get(
    '/:namespace/:project/pipelines/:pipeline_id',
    { config: read, schema: { params } },
    async (request, reply) => {
      const { project, params, actor } = request
      const found = await readShownPipeline(project, params.pipeline_id, actor)
      return showCi(request, reply, 'ci/pipeline', {
        title: `Pipeline #${found.pipeline.id}`,
        ...found,
        pipeline: viewPipeline(found.pipeline),
        stages: found.stages.map(stage => ({ ...stage, builds: stage.builds.map(shownBuild) })),
        statuses: found.statuses.map(viewCommitStatus)
      })
    }
  )

  app.post(
    '/:namespace/:project/pipelines/:pipeline_id/retry',
    { config: write, schema: { params } },
    async (request, reply) => {
      const pipeline = await requirePipeline(request.project.id, request.params.pipeline_id)
      await retryPipeline(pipeline, request.origin)
      return reply.redirect(pagePath(request, pipeline.id), 303)
    }
  )

  app.post(
    '/:namespace/:project/pipelines/:pipeline_id/cancel',
    { config: write, schema: { params } },
    async (request, reply) => {
      const pipeline = await requirePipeline(request.project.id, request.params.pipeline_id)
      await cancelPipeline(pipeline, request.origin)
      return reply.redirect(pagePath(request, pipeline.id), 303)
    }
  )
}

const pagePath = ({ project }: FastifyRequest, id: number) => projectPath(project) + path('pipelines', id)

const showForm = (request: FastifyRequest, reply: FastifyReply, ref: string, refused: Refusals = {}) =>
  showCi(request, reply, 'ci/new-pipeline', { title: 'Run a pipeline', ref, error: Object.values(refused).join('\n') })

/** Shows a page with the path of the project, and with what the visitor may do. */
export const showCi = (
  request: FastifyRequest,
  reply: FastifyReply,
  name: string,
  page: { readonly title: string; readonly [name: string]: unknown }
): Promise<FastifyReply> =>
  show(request, reply, name, {
    base: projectPath(request.project),
    mayWrite: may(request.actor, 'pipeline.write', request.project),
    ...page
  })
