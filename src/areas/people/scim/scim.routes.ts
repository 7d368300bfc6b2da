// SCIM 2.0 (RFC 7643 and 7644) below /scim/v2, for directories that create, change and block accounts. Each request has the token
// of a directory (scim-tokens.ts), which is checked before the body is read.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Origin } from '../../../access/actor.js'
import { NotFound } from '../../../errors.js'
import { log } from '../../../log.js'
import type { Chosen } from './attributes.js'
import { LARGEST_BULK, runBulk } from './bulk.js'
import { viewConfiguration, viewResourceTypes, viewSchemas } from './documents.js'
import { ERROR, scimError } from './failures.js'
import { KINDS, type KindName, numberOf } from './kinds.js'
import { LIST, type ListQuery as List } from './lists.js'
import { Bulk, IdParams, ListQuery, Patch, Resource, ResourceQuery, Search } from './scim.schema.js'
import { originOfScim } from './scim-tokens.js'
import { locationOf } from './user-resource.js'
import { type Change, tagOf } from './versions.js'

/** A group of 10,000 members. */
const BODY_LIMIT = 4_194_304
const config = { public: true as const }
const hide = true as const

declare module 'fastify' {
  interface FastifyRequest {
    /** Who makes the changes of a request of SCIM: the owner of its token. */
    directory: Origin | null
  }
}

export const scimRoutes: FastifyPluginAsyncTypebox = async app => {
  app.decorateRequest('directory', null)
  app.addHook('onRequest', async request => {
    const token = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    request.directory = await originOfScim(token, request.address)
  })
  app.addHook('onSend', async (_request, reply) => {
    if (reply.getHeader('content-type') !== undefined) reply.type('application/scim+json')
  })
  app.setErrorHandler(answerError)
  await app.register(documentRoutes)
  await app.register(routesOf('Users'))
  await app.register(routesOf('Groups'))
  await app.register(bulkRoute)
  // With a valid token, a wrong path or method gets an answer that says what is wrong.
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
  for (const url of ['/:kind', '/:kind/:id'])
    app.route({ method: methods, url, config, schema: { hide }, handler: refuse })
}

const WITHOUT = /^\/(Me|\.search)(\/|$)/
const BULK = /^\/Bulk$/
const COLLECTION = /^\/(Users|Groups)$/
const ONE = /^\/(Users|Groups)\/[^/]+$/
const DOCUMENT = /^\/(ServiceProviderConfig|(ResourceTypes|Schemas)(\/[^/]+)?)$/

/** RFC 7644, 3.12: 501 for what this server leaves out, 405 for a method that a resource has not, and 404. */
async function refuse(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const path = `/${Object.values(request.params as object).join('/')}`
  const answer = (status: number, detail: string) =>
    reply.code(status).send({ schemas: [ERROR], status: String(status), detail })
  if (WITHOUT.test(path)) return answer(501, 'Not supported: use /Users and /Groups')
  const allowed = [
    COLLECTION.test(path) && 'GET, POST',
    ONE.test(path) && 'GET, PUT, PATCH, DELETE',
    DOCUMENT.test(path) && 'GET',
    BULK.test(path) && 'POST'
  ].find(methods => methods !== false)
  if (allowed === undefined) throw new NotFound()
  return answer(405, `Allowed: ${allowed}`).header('allow', allowed)
}

const documentRoutes: FastifyPluginAsyncTypebox = async app => {
  const schema = { hide }
  app.get('/ServiceProviderConfig', { config, schema }, async () => viewConfiguration())
  app.get('/ResourceTypes', { config, schema }, async () => listed(viewResourceTypes()))
  app.get('/ResourceTypes/:id', { config, schema: { hide, params: IdParams } }, async ({ params }) =>
    named(viewResourceTypes(), params.id)
  )
  app.get('/Schemas', { config, schema }, async () => listed(viewSchemas()))
  app.get('/Schemas/:id', { config, schema: { hide, params: IdParams } }, async ({ params }) =>
    named(viewSchemas(), params.id)
  )
}

const listed = (resources: readonly object[]) => ({
  schemas: [LIST],
  totalResults: resources.length,
  startIndex: 1,
  itemsPerPage: resources.length,
  Resources: resources
})

function named<T extends { readonly id: string }>(resources: readonly T[], id: string): T {
  const found = resources.find(resource => resource.id === id)
  if (!found) throw new NotFound()
  return found
}

const listing = { config, schema: { hide, querystring: ListQuery } }
const reading = { config, schema: { hide, params: IdParams, querystring: ResourceQuery } }
const deleting = { config, schema: { hide, params: IdParams } }
const creating = { config, bodyLimit: BODY_LIMIT, schema: { hide, querystring: ResourceQuery, body: Resource } }
const replacing = { ...creating, schema: { ...creating.schema, params: IdParams } }
const patching = { ...creating, schema: { hide, params: IdParams, querystring: ResourceQuery, body: Patch } }

const searching = { config, bodyLimit: 65_536, schema: { hide, body: Search } }

const queryOf = ({ attributes, excludedAttributes, ...query }: Search): List => ({
  ...query,
  ...(attributes && { attributes: attributes.join(',') }),
  ...(excludedAttributes && { excludedAttributes: excludedAttributes.join(',') })
})

const routesOf =
  (name: KindName): FastifyPluginAsyncTypebox =>
  async app => {
    const { list, find, create, replace, patch, remove } = KINDS[name]
    const one = `/${name}/:id` as const
    const found = async (id: number) => {
      const resource = await find(id)
      if (!resource) throw new NotFound()
      return resource
    }
    const show = async (id: number, chosen: Chosen, reply: FastifyReply) => {
      const { version, view } = await found(id)
      reply.header('etag', tagOf(version))
      return view(chosen)
    }
    app.get(`/${name}`, listing, async ({ query }) => list(query))
    app.post(`/${name}/.search`, searching, async ({ body }) => list(queryOf(body)))
    app.post(`/${name}`, creating, async (request, reply) => {
      const id = await create(request.body, origin(request))
      reply.code(201).header('location', locationOf(name, id))
      return show(id, request.query, reply)
    })
    app.get(one, reading, async ({ params, query }, reply) => {
      const { version, view } = await found(numberOf(params.id))
      return reply.isKnown(version) ? reply : view(query)
    })
    app.put(one, replacing, async (request, reply) => {
      const id = numberOf(request.params.id)
      await replace(id, request.body, changeOf(request))
      return show(id, request.query, reply)
    })
    app.patch(one, patching, async (request, reply) => {
      const id = numberOf(request.params.id)
      await patch(id, request.body.Operations, changeOf(request))
      return show(id, request.query, reply)
    })
    app.delete(one, deleting, async (request, reply) => {
      await remove(numberOf(request.params.id), changeOf(request))
      return reply.code(204).send()
    })
  }

const bulkRoute: FastifyPluginAsyncTypebox = async app => {
  const schema = { hide, body: Bulk }
  app.post('/Bulk', { config, bodyLimit: LARGEST_BULK, schema }, async request =>
    runBulk(request.body, origin(request))
  )
}

const changeOf = (request: FastifyRequest): Change => ({
  origin: origin(request),
  match: request.headers['if-match']
})

function origin({ directory }: FastifyRequest): Origin {
  if (!directory) throw new Error('a request of SCIM has no token')
  return directory
}

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const found = scimError(error)
  if (found?.status === 401) reply.header('www-authenticate', 'Bearer realm="SCIM"')
  if (found?.retryAfter !== undefined) reply.header('retry-after', String(found.retryAfter))
  if (found) return reply.code(found.status).send(found.body)
  log().error({ error, request: request.id, method: request.method, route: request.routeOptions.url }, 'request failed')
  return reply.code(500).send({ schemas: [ERROR], status: '500', detail: 'The server has failed' })
}
