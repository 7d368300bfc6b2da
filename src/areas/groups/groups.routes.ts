import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { listGroups } from './groups.queries.js'
import { GroupListQuery } from './groups.schema.js'
import { GroupItem, viewGroupItem } from './groups.view.js'

export const groupRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'group.list' as const }
  const schema = { tags: ['Groups'], querystring: GroupListQuery, response: { 200: Type.Array(GroupItem) } }

  app.get(
    '/groups',
    { config, schema: { ...schema, summary: 'List your groups; administrators see all' } },
    async ({ query, actor }, reply) => {
      const scope = query.all_available || actor.user?.admin ? 'visible' : 'member'
      return reply.page(await listGroups(scope, query, actor), viewGroupItem)
    }
  )

  app.get(
    '/groups/owned',
    { config, schema: { ...schema, summary: 'List the groups that you own' } },
    async ({ query, actor }, reply) => reply.page(await listGroups('owned', query, actor), viewGroupItem)
  )
}
