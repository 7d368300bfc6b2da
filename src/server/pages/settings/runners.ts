// The runners of a project, which run its builds.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { askerOf } from '../../../access/actor.js'
import { listRunners } from '../../../areas/ci/runners/runner-records.queries.js'
import { deleteRunner, disableRunner, enableRunner, updateRunner } from '../../../areas/ci/runners/runners.js'
import { EnableRunner } from '../../../areas/ci/runners/runners.schema.js'
import { viewRunner } from '../../../areas/ci/runners/runners.view.js'
import { showProject } from '../../../areas/projects/projects/show-project.js'
import { Type } from '../../../lib/type.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { settingsPath, showSettings } from './menu.js'

const RunnerParams = Type.Object({ runner_id: Type.Integer() })
const ListQuery = Type.Object({ page: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })) })
/** The most runners of other projects that the form offers. */
const OFFERED = 100

/** What one click does with a runner; the rules decide who may do it. */
const ACTS = {
  pause: ({ actor, origin }: FastifyRequest, id: number) => updateRunner(id, { active: false }, { actor, origin }),
  resume: ({ actor, origin }: FastifyRequest, id: number) => updateRunner(id, { active: true }, { actor, origin }),
  disable: ({ project, origin }: FastifyRequest, id: number) => disableRunner(project, id, origin),
  remove: ({ actor, origin }: FastifyRequest, id: number) => deleteRunner(id, { actor, origin })
}

export const projectRunnerPages: FastifyPluginAsyncTypebox = async app => {
  const all = '/:namespace/:project/settings/runners'
  const config = { can: 'project_runner.administer' as const }

  app.get(all, { config, schema: { querystring: ListQuery } }, (request, reply) => showRunners(request, reply))

  app.post(all, { config, schema: { body: EnableRunner } }, async (request, reply) => {
    const { project, body, actor, origin } = request
    try {
      await enableRunner(project, body.runner_id, { actor, origin })
      return reply.redirect(pathOf(request), 303)
    } catch (error) {
      return showRunners(request, reply.code(400), refusalsOf(error))
    }
  })

  for (const [name, act] of Object.entries(ACTS)) {
    app.post(`${all}/:runner_id/${name}`, { config, schema: { params: RunnerParams } }, async (request, reply) => {
      try {
        await act(request, request.params.runner_id)
        return reply.redirect(pathOf(request), 303)
      } catch (error) {
        return showRunners(request, reply.code(400), refusalsOf(error))
      }
    })
  }
}

const pathOf = (request: FastifyRequest) => `${settingsPath(request)}/runners`

async function showRunners(request: FastifyRequest, reply: FastifyReply, refusals?: Refusals) {
  const { project, actor, query } = request
  const user = askerOf(actor)
  const { page } = query as { page?: number }
  const [runners, own, record] = await Promise.all([
    listRunners({ project }, { page: page ?? 1 }),
    listRunners({ userId: user.id }, { per_page: OFFERED, scope: 'specific' }),
    showProject(project.id, actor)
  ])
  const shown = new Set(runners.items.map(({ id }) => id))
  return showSettings(request, reply, 'runners', {
    title: 'Runners',
    page: runners,
    runners: runners.items.map(runner => viewRunner({ runner, projects: [], admin: false })),
    others: own.items.filter(({ id, locked }) => !locked && !shown.has(id)),
    token: 'runners_token' in record ? record.runners_token : undefined,
    action: pathOf(request),
    refusals
  })
}
