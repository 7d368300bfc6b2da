// Stars and forks of a project.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { askerOf } from '../../../access/actor.js'
import { may } from '../../../access/authorize.js'
import { listNamespaces } from '../../../areas/people/groups/namespaces.queries.js'
import { forkProject } from '../../../areas/projects/imports/forks.js'
import { ForkBody } from '../../../areas/projects/imports/forks.schema.js'
import { findProject } from '../../../areas/projects/projects/projects.queries.js'
import { starProject, unstarProject } from '../../../areas/projects/projects/stars.js'
import { NotFound } from '../../../errors.js'
import { show } from '../page-routes.js'
import { projectPath } from '../place.js'
import { unlessDone } from '../planning/once.js'
import { type Refusals, refusalsOf } from '../refusals.js'

/** The most namespaces that the form offers. */
const OFFERED = 100

export const projectActionPages: FastifyPluginAsyncTypebox = async app => {
  const star = { config: { can: 'project.star' as const } }
  const fork = { config: { can: 'project.fork' as const } }

  app.post('/:namespace/:project/star', star, async ({ project, actor }, reply) => {
    await unlessDone(starProject(project, askerOf(actor)))
    return reply.redirect(projectPath(project), 303)
  })

  app.post('/:namespace/:project/unstar', star, async ({ project, actor }, reply) => {
    await unlessDone(unstarProject(project, askerOf(actor)))
    return reply.redirect(projectPath(project), 303)
  })

  app.get('/:namespace/:project/forks/new', fork, (request, reply) => {
    // The rule refuses a visitor who may not read the code.
    if (!may(request.actor, 'repository.read', request.project)) throw new NotFound()
    return showFork(request, reply)
  })

  app.post('/:namespace/:project/forks', { ...fork, schema: { body: ForkBody } }, async (request, reply) => {
    const { project, body, actor, origin } = request
    try {
      const made = await findProject(await forkProject(project, body.namespace, actor, origin), actor)
      if (!made) throw new NotFound('Project')
      return reply.redirect(projectPath(made), 303)
    } catch (error) {
      return showFork(request, reply.code(409), refusalsOf(error))
    }
  })
}

async function showFork(request: FastifyRequest, reply: FastifyReply, refusals?: Refusals): Promise<FastifyReply> {
  const { items: namespaces } = await listNamespaces({ per_page: OFFERED }, request.actor)
  return show(request, reply, 'projects/fork', {
    title: 'Fork this project',
    base: projectPath(request.project),
    namespaces,
    refusals
  })
}
