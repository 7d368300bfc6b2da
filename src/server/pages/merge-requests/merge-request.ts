// The page of a merge request, in tabs.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { PageQuery } from '../../../areas/planning/merge-requests/merge-requests.schema.js'
import { show } from '../page-routes.js'
import { ChangesQuery, readChangesTab } from './changes.js'
import { Numbered } from './head.js'
import { readCommitsTab, readOverview, readPipelinesTab } from './tabs.js'

export const mergeRequestPages: FastifyPluginAsyncTypebox = async app => {
  const one = '/:namespace/:project/merge_requests/:iid'
  const config = { can: 'merge_request.read' as const }
  const schema = { params: Numbered, querystring: PageQuery }

  app.get(one, { config, schema }, async (request, reply) =>
    show(request, reply, 'merge-requests/overview', await readOverview(request))
  )

  app.get(`${one}/commits`, { config, schema }, async (request, reply) =>
    show(request, reply, 'merge-requests/commits', await readCommitsTab(request))
  )

  for (const tab of ['diffs', 'changes']) {
    app.get(
      `${one}/${tab}`,
      { config, schema: { params: Numbered, querystring: ChangesQuery } },
      async (request, reply) => show(request, reply, 'merge-requests/changes', await readChangesTab(request))
    )
  }

  app.get(`${one}/pipelines`, { config, schema }, async (request, reply) =>
    show(request, reply, 'merge-requests/pipelines', await readPipelinesTab(request))
  )
}
