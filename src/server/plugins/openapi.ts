// The OpenAPI document, made from the schemas that validate and serialise, and its page.
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { publicUrl } from '../../config.js'
import { version } from '../../version.js'
import { DESCRIPTION, security, securitySchemes, tags } from '../openapi/about.js'
import { type Document, finishDocument } from '../openapi/document.js'
import { describeOperation } from '../openapi/operation.js'
import { everyOperation, loadDocument } from '../pages/every-operation.js'
import { broadcastsHtml, ICON } from '../pages/page.js'

const PREFIX = '/api/v3'
/** The Content-Security-Policy of the page. It does not upgrade requests to https, because the page must also work over plain HTTP. */
const POLICY =
  "default-src 'self'; base-uri 'self'; img-src 'self' data:; object-src 'none'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"
/** Of the top bar, the page needs only the switch between light and dark. It follows the system at first. */
const STYLE = `.swagger-ui .topbar { background: none; padding: 0 }
.swagger-ui .topbar .link, .swagger-ui .topbar .download-url-wrapper { display: none }
.swagger-ui .topbar-wrapper { justify-content: flex-end }
.swagger-ui .topbar .dark-mode-toggle svg { fill: currentColor }
.swagger-ui .opblock .opblock-summary-operation-id { flex-shrink: 0; max-width: 40% }
.broadcast { padding: 0.5rem 1rem; text-align: center; white-space: pre-line; overflow-wrap: anywhere; font-family: sans-serif }
`

/** Broadcast messages are inserted after this tag. */
const BODY = '<body>'

export async function documentApi(app: FastifyInstance): Promise<void> {
  // The document is made at the first request: a server that nobody asks for it does not pay for it.
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Gitstead REST API',
        version,
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' }
      },
      servers: [],
      tags,
      components: { securitySchemes },
      security
    },
    transform: ({ schema = {}, url, route: { method, config = {} } }) => {
      if (schema.hide || !url.startsWith(`${PREFIX}/`)) return { schema: { ...schema, hide: true }, url }
      const path = url.slice(PREFIX.length)
      return { schema: describeOperation({ method: String(method), path, config, schema }), url }
    },
    // The URL is known when the server listens: the configuration may ask for any free port.
    transformObject: made => {
      const document = ('openapiObject' in made && made.openapiObject) as Document
      return finishDocument(Object.assign(document, { servers: [{ url: publicUrl() }] })) as never
    }
  })
  // Everybody may request it, and writing it takes 20 ms: it is written once.
  let text: string | undefined
  app.get('/api/v3/openapi.json', { config: { public: true }, schema: { hide: true } }, async (_request, reply) => {
    text ??= JSON.stringify(app.swagger())
    return reply.type('application/json; charset=utf-8').send(text)
  })
  await app.register(async docs => {
    // The routes of the page itself are static files.
    docs.addHook('onRoute', route => {
      route.config = { ...route.config, public: true }
    })
    docs.addHook('onSend', async (_request, reply, page) => {
      if (typeof page !== 'string' || !page.includes(BODY)) return page
      const messages = await broadcastsHtml()
      if (messages.trim() === '') return page
      reply.header('cache-control', 'no-store')
      return page.replace(BODY, () => `${BODY}${messages}`)
    })
    await docs.register(swaggerUi, {
      routePrefix: '/api/docs',
      staticCSP: POLICY,
      uiConfig: {
        docExpansion: 'list',
        filter: true,
        displayOperationId: true,
        plugins: [loadDocument, everyOperation] as never
      },
      logo: { type: 'image/svg+xml', content: ICON.text },
      theme: {
        title: 'Gitstead REST API',
        css: [{ filename: 'gitstead.css', content: STYLE }],
        favicon: [{ filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: ICON.text }]
      },
      // The page calls the host that it came from, whatever URL is configured.
      transformSpecification: document => ({ ...document, servers: [{ url: '/' }] }),
      transformSpecificationClone: false
    })
  })
}
