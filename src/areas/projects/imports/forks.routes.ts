import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ProjectParams } from '../../../lib/schema.js'
import { Project } from '../projects/projects.view.js'
import { showProject } from '../projects/show-project.js'
import { forkProject, relateFork, unrelateFork } from './forks.js'
import { ForkBody, ForkParams } from './forks.schema.js'
import { ForkRelation, viewForkLink } from './forks.view.js'

const TAGS = ['Projects']

export const forkRoutes: FastifyPluginAsyncTypebox = async app => {
  app.post(
    '/projects/fork/:id',
    {
      config: { can: 'project.fork' },
      schema: {
        tags: TAGS,
        summary: 'Fork a project',
        description:
          'The fork exists at once. A job copies the branches and tags: until then `import_status` is `scheduled`, and git gets 503. Returns 409 when you may not read the repository, or when the target already has a project of this name.',
        params: ProjectParams,
        body: ForkBody,
        response: { 201: Project },
        errors: [403, 409]
      }
    },
    async ({ project, body, actor, origin }, reply) =>
      reply.code(201).send(await showProject(await forkProject(project, body.namespace, actor, origin), actor))
  )

  app.post(
    '/projects/:id/fork/:forked_from_id',
    {
      config: { can: 'project.relate' },
      schema: {
        tags: TAGS,
        operationId: 'relateFork',
        summary: 'Make a project a fork of another project',
        description: 'It copies nothing.',
        params: ForkParams,
        response: { 201: ForkRelation },
        errors: [409]
      }
    },
    async ({ project, params, actor, origin }, reply) =>
      reply.code(201).send(viewForkLink(await relateFork(project, params.forked_from_id, actor, origin)))
  )

  app.delete(
    '/projects/:id/fork',
    {
      config: { can: 'project.administer' },
      schema: {
        tags: TAGS,
        summary: 'End the fork relation of a project',
        params: ProjectParams,
        response: { 200: ForkRelation },
        errors: [304]
      }
    },
    async ({ project, origin }) => viewForkLink(await unrelateFork(project, origin))
  )
}
