import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '../../../lib/type.js'
import { listNamespaces } from './namespaces.queries.js'
import { NamespaceListQuery } from './namespaces.schema.js'
import { NamespaceItem, viewNamespaceItem } from './namespaces.view.js'

export const namespaceRoutes: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/namespaces',
    {
      config: { can: 'group.list' },
      schema: {
        tags: ['Namespaces'],
        summary: 'List your own namespace and your groups; administrators see all namespaces',
        querystring: NamespaceListQuery,
        response: { 200: Type.Array(NamespaceItem) }
      }
    },
    async ({ query, actor }, reply) => reply.page(await listNamespaces(query, actor), viewNamespaceItem)
  )
}
