import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { listRunners } from './runner-records.queries.js'
import { disableRunner, enableRunner } from './runners.js'
import { AllRunnersQuery, EnableRunner, ProjectRunnerParams } from './runners.schema.js'
import { RunnerSummary, viewRunnerSummary } from './runners.view.js'

export const projectRunnerRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'project_runner.administer' as const }
  const tags = ['Runners']

  app.get(
    '/projects/:id/runners',
    {
      config,
      schema: {
        tags,
        summary: 'List the runners of a project',
        description: 'The runners of the project, and shared runners if the project enables them.',
        params: ProjectParams,
        querystring: AllRunnersQuery,
        response: { 200: Type.Array(RunnerSummary) }
      }
    },
    async ({ project, query }, reply) => reply.page(await listRunners({ project }, query), viewRunnerSummary)
  )

  app.post(
    '/projects/:id/runners',
    {
      config,
      schema: {
        tags,
        summary: 'Enable a runner in a project',
        description: 'The runner must belong to another project of yours.',
        params: ProjectParams,
        body: EnableRunner,
        response: { 201: RunnerSummary },
        errors: [409]
      }
    },
    async ({ project, body, actor, origin }, reply) =>
      reply.code(201).send(viewRunnerSummary(await enableRunner(project, body.runner_id, { actor, origin })))
  )

  app.delete(
    '/projects/:id/runners/:runner_id',
    {
      config,
      schema: {
        tags,
        summary: 'Disable a runner in a project',
        params: ProjectRunnerParams,
        response: { 200: RunnerSummary }
      }
    },
    async ({ project, params, origin }) => viewRunnerSummary(await disableRunner(project, params.runner_id, origin))
  )
}
