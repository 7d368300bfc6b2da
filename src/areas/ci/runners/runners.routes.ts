import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Actor, askerOf } from '../../../access/actor.js'
import { Type } from '../../../lib/type.js'
import { registrationToken, resetRegistrationToken } from './registration-token.js'
import { listRunners, projectsOfRunner, type RunnerRecord } from './runner-records.queries.js'
import { deleteRunner, readRunner, updateRunner } from './runners.js'
import { AllRunnersQuery, RunnerChange, RunnerListQuery, RunnerParams } from './runners.schema.js'
import { RegistrationToken, Runner, RunnerSummary, viewRunner, viewRunnerSummary } from './runners.view.js'

const TAGS = ['Runners']

export const runnerRoutes: FastifyPluginAsyncTypebox = async app => {
  const many = { 200: Type.Array(RunnerSummary) }

  app.get(
    '/runners',
    {
      config: { can: 'runner.list' },
      schema: {
        tags: TAGS,
        summary: 'List the runners of your projects',
        description: 'The runners of all projects in which you are at least a master, without shared runners.',
        querystring: RunnerListQuery,
        response: many
      }
    },
    async ({ query, actor }, reply) =>
      reply.page(await listRunners({ userId: askerOf(actor).id }, query), viewRunnerSummary)
  )

  app.get(
    '/runners/all',
    {
      config: { can: 'runner.administer' },
      schema: { tags: TAGS, summary: 'List all runners', querystring: AllRunnersQuery, response: many }
    },
    async ({ query }, reply) => reply.page(await listRunners('all', query), viewRunnerSummary)
  )

  app.get(
    '/runners/registration_token',
    {
      config: { can: 'runner.administer' },
      schema: {
        tags: TAGS,
        summary: 'Get the registration token of the instance',
        response: { 200: RegistrationToken }
      }
    },
    async () => ({ token: await registrationToken() })
  )

  app.post(
    '/runners/registration_token/reset',
    {
      config: { can: 'runner.administer' },
      schema: {
        tags: TAGS,
        summary: 'Replace the registration token of the instance',
        description: 'The old token stops working. Registered runners stay.',
        response: { 201: RegistrationToken }
      }
    },
    async ({ origin }, reply) => reply.code(201).send({ token: await resetRegistrationToken(origin) })
  )

  app.get(
    '/runners/:id',
    {
      config: { can: 'runner.read' },
      schema: { tags: TAGS, summary: 'Get a runner', params: RunnerParams, response: { 200: Runner }, errors: [403] }
    },
    async ({ params, actor }) => viewRunner(await withProjects(await readRunner(params.id, actor), actor))
  )

  app.put(
    '/runners/:id',
    {
      config: { can: 'runner.write' },
      schema: {
        tags: TAGS,
        summary: 'Change a runner',
        params: RunnerParams,
        body: RunnerChange,
        response: { 200: Runner },
        errors: [403]
      }
    },
    async ({ params, body, actor, origin }) =>
      viewRunner(await withProjects(await updateRunner(params.id, body, { actor, origin }), actor))
  )

  app.delete(
    '/runners/:id',
    {
      config: { can: 'runner.write' },
      schema: {
        tags: TAGS,
        summary: 'Remove a runner',
        description: 'Its running builds can finish.',
        params: RunnerParams,
        response: { 200: RunnerSummary },
        errors: [403]
      }
    },
    async ({ params, actor, origin }) => viewRunnerSummary(await deleteRunner(params.id, { actor, origin }))
  )
}

async function withProjects(runner: RunnerRecord, actor: Actor) {
  const { id, admin } = askerOf(actor)
  return { runner, admin, projects: await projectsOfRunner(runner.id, admin ? null : id) }
}
