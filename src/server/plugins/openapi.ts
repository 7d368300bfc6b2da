// The OpenAPI document, made from the same schemas that validate and serialise, and its page.
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { publicUrl } from '../../config.js'
import { version } from '../../version.js'

export async function documentApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.0.3',
      info: { title: 'Gitstead REST API', version, license: { name: 'MIT' } },
      servers: [{ url: publicUrl() }],
      components: {
        securitySchemes: {
          privateToken: { type: 'apiKey', in: 'header', name: 'PRIVATE-TOKEN' },
          privateTokenInQuery: { type: 'apiKey', in: 'query', name: 'private_token' },
          session: { type: 'apiKey', in: 'cookie', name: '_service_session' }
        }
      },
      security: [{ privateToken: [] }, { privateTokenInQuery: [] }, { session: [] }]
    },
    transform: ({ schema, url }) => ({
      schema: { ...schema, hide: schema?.hide === true || !url.startsWith('/api/v3/') },
      url
    })
  })
  app.get('/api/v3/openapi.json', { config: { public: true }, schema: { hide: true } }, async () => app.swagger())
  await app.register(async docs => {
    // The page's own routes are static files.
    docs.addHook('onRoute', route => {
      route.config = { ...route.config, public: true }
    })
    await docs.register(swaggerUi, { routePrefix: '/api/docs', staticCSP: true })
  })
}
