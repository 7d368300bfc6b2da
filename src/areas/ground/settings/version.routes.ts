import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { revision, version } from '../../../version.js'

const Version = Type.Object(
  {
    version: Text('the version of the program'),
    revision: Text('the commit it was built from, or `unknown`')
  },
  { title: 'Version', description: 'The version of the appliance.' }
)

export const versionRoutes: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/version',
    {
      config: { can: 'version.read' },
      schema: { tags: ['Application settings'], summary: 'Get the version', response: { 200: Version } }
    },
    async () => ({ version, revision })
  )
}
