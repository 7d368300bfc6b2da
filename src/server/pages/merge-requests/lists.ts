// Lists of merge requests: those of a project, and those of the visitor.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Actor } from '../../../access/actor.js'
import { may } from '../../../access/authorize.js'
import { labelsIn } from '../../../areas/planning/labels/labels.queries.js'
import {
  listOwnMergeRequests,
  type MergeRequestTabs,
  searchMergeRequests
} from '../../../areas/planning/merge-requests/merge-request-lists.queries.js'
import {
  MergeRequestSearch,
  OwnMergeRequestQuery
} from '../../../areas/planning/merge-requests/merge-requests.schema.js'
import { readMergeRequests } from '../../../areas/planning/merge-requests/readings.js'
import { keptReading } from '../../plugins/kept-readings.js'
import { show } from '../page-routes.js'
import { projectPath } from '../place.js'

export const mergeRequestListPages: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/:namespace/:project/merge_requests',
    { config: { can: 'merge_request.read' }, schema: { querystring: MergeRequestSearch } },
    async (request, reply) => {
      const { project, query, actor } = request
      const { list, labels } = await keptReading(request, async () => {
        const list = await withReadings(await searchMergeRequests(project.id, query, actor), actor)
        return { list, labels: await labelsIn(project, list) }
      })
      const base = `${projectPath(project)}/merge_requests`
      const mayCreate = may(actor, 'merge_request.create', project)
      return show(request, reply, 'merge-requests/list', {
        title: 'Merge requests',
        list,
        labels: new Map(labels),
        base,
        query,
        mayCreate
      })
    }
  )

  app.get(
    '/dashboard/merge_requests',
    { config: { can: 'merge_request.list_own' }, schema: { querystring: OwnMergeRequestQuery } },
    async (request, reply) => {
      const { query, actor } = request
      const list = await withReadings(await listOwnMergeRequests(query, actor), actor)
      return show(request, reply, 'merge-requests/own', { title: 'Your merge requests', list, query })
    }
  )
}

const withReadings = async (list: MergeRequestTabs, actor: Actor) => ({
  ...list,
  items: await readMergeRequests(list.items, actor)
})
