import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Actor } from '../../../access/actor.js'
import type { Page } from '../../../db/lists/paginate.js'
import { type Static, Type } from '../../../lib/type.js'
import { type GroupRecord, type GroupScope, listGroups, statisticsOf } from './groups.queries.js'
import { GroupListQuery } from './groups.schema.js'
import { GroupItem, viewGroupItem, withStatistics } from './groups.view.js'

export const groupRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'group.list' as const }
  const schema = { tags: ['Groups'], querystring: GroupListQuery, response: { 200: Type.Array(GroupItem) } }

  app.get(
    '/groups',
    { config, schema: { ...schema, summary: 'List your groups; administrators see all' } },
    async ({ query, actor }, reply) => {
      const admin = actor.user?.admin === true
      // Not specified: other users who request statistics get the list without them.
      const allowed = { ...query, statistics: query.statistics && admin }
      const { page, view } = await read(query.all_available || admin ? 'visible' : 'member', allowed, actor)
      return reply.page(page, view)
    }
  )

  app.get(
    '/groups/owned',
    { config, schema: { ...schema, summary: 'List the groups that you own' } },
    async ({ query, actor }, reply) => {
      const { page, view } = await read('owned', query, actor)
      return reply.page(page, view)
    }
  )
}

interface Listed {
  readonly page: Page<GroupRecord>
  readonly view: (group: GroupRecord) => Static<typeof GroupItem>
}

/** Returns a page with its view: two statements, and a third one for statistics. */
async function read(scope: GroupScope, query: GroupListQuery, actor: Actor): Promise<Listed> {
  const page = await listGroups(scope, query, actor)
  if (!query.statistics) return { page, view: viewGroupItem }
  return { page, view: withStatistics(await statisticsOf(page.items.map(({ id }) => id))) }
}
