import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { IdOf, Paging, projectParam } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { requireMilestone } from '../milestones/milestones.queries.js'
import { listOfMilestone } from './merge-requests.queries.js'
import { MergeRequest, viewMergeRequest } from './merge-requests.view.js'
import { readMergeRequests } from './readings.js'

/** Decided: `GET /projects/:id/milestones/:milestone_id/merge_requests` is offered. */
export const milestoneMergeRequestRoutes: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/projects/:id/milestones/:milestone_id/merge_requests',
    {
      config: { can: 'merge_request.read' },
      schema: {
        tags: ['Milestones'],
        summary: 'List the merge requests of a milestone',
        params: Type.Object({ ...projectParam, milestone_id: IdOf('the milestone') }),
        querystring: Type.Object(Paging),
        response: { 200: Type.Array(MergeRequest) }
      }
    },
    async ({ project, params, query, actor }, reply) => {
      const { id } = await requireMilestone(project.id, params.milestone_id)
      const page = await listOfMilestone(id, query, actor)
      return reply.page({ ...page, items: await readMergeRequests(page.items, actor) }, viewMergeRequest)
    }
  )
}
