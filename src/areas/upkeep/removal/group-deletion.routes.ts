import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { GroupParams } from '../../../lib/schema.js'
import { GroupDetail, groupDetail } from '../../projects/projects/group-detail.js'
import { deleteGroup } from './group-deletion.js'

export const groupDeletionRoutes: FastifyPluginAsyncTypebox = async app => {
  // Decided: the response is the record as a GET showed it before.
  app.delete(
    '/groups/:id',
    {
      config: { can: 'group.administer' },
      schema: {
        tags: ['Groups'],
        summary: 'Delete a group with all its projects',
        params: GroupParams,
        response: { 200: GroupDetail }
      }
    },
    async ({ group, actor, origin }) => {
      const { answer } = await groupDetail(group, actor)
      await deleteGroup(group.id, origin)
      return answer
    }
  )
}
