import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { shareProject, unshareProject } from './shares.js'
import { ShareBody, ShareParams } from './shares.schema.js'
import { ProjectGroupLink, viewShareLink } from './shares.view.js'

export const shareRoutes: FastifyPluginAsyncTypebox = async app => {
  app.post(
    '/projects/:id/share',
    {
      config: { can: 'project.share' },
      schema: {
        tags: ['Projects'],
        summary: 'Share a project with a group',
        description: 'The members of the group then have the same level in the project, but at most `group_access`.',
        params: ProjectParams,
        body: ShareBody,
        response: { 201: ProjectGroupLink },
        errors: [409]
      }
    },
    async ({ project, body, actor, origin }, reply) =>
      reply.code(201).send(viewShareLink(await shareProject(project, body, actor, origin)))
  )

  app.delete(
    '/projects/:id/share/:group_id',
    {
      config: { can: 'project.share' },
      schema: {
        tags: ['Projects'],
        summary: 'End the share of a project with a group',
        params: ShareParams,
        response: { 204: Type.Null({ description: 'nothing' }) }
      }
    },
    async ({ project, params, origin }, reply) => {
      await unshareProject(project, params.group_id, origin)
      return reply.code(204).send(null)
    }
  )
}
