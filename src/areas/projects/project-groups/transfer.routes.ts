import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { NotFound } from '../../../errors.js'
import { groupParam, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { GroupDetail, writtenGroup } from '../projects/group-detail.js'
import { findProject } from '../projects/projects.queries.js'
import { transferProject } from './transfer.js'

const TransferParams = Type.Object({
  ...groupParam,
  project_id: Text('the id of the project, or its path', { minLength: 1, maxLength: 1024 })
})

export const transferRoutes: FastifyPluginAsyncTypebox = async app => {
  app.post(
    '/groups/:id/projects/:project_id',
    {
      config: { can: 'project.transfer' },
      schema: {
        tags: ['Groups'],
        summary: 'Move a project into a group',
        description:
          'A project that is more visible than the group gets the level of the group. The old path redirects to the project.',
        params: TransferParams,
        response: { 201: GroupDetail }
      }
    },
    async ({ group, params, actor, origin }, reply) => {
      const project = await findProject(params.project_id, actor)
      if (!project) throw new NotFound('Project')
      await transferProject(project.id, group.id, origin)
      const { answer } = await writtenGroup(group.id, actor)
      return reply.code(201).send(answer)
    }
  )
}
