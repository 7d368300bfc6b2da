// SCIM 2.0 (RFC 7643 and 7644) below /scim/v2, for directories that create, change and block accounts. Each request has the token
// of a directory (scim-tokens.ts), which is checked before the body is read.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Origin } from '../../../access/actor.js'
import { NotFound } from '../../../errors.js'
import { log } from '../../../log.js'
import type { Chosen } from './attributes.js'
import { viewConfiguration, viewResourceTypes, viewSchemas } from './documents.js'
import { ERROR, scimError } from './failures.js'
import { viewScimGroup, viewScimGroups } from './group-resource.js'
import { LIST, type ListQuery as List } from './lists.js'
import type { Operation } from './patch.js'
import { IdParams, ListQuery, Patch, Resource, ResourceQuery, Search } from './scim.schema.js'
import { createScimGroup, deleteScimGroup, patchScimGroup, replaceScimGroup } from './scim-groups.js'
import { findScimGroup, listScimGroups } from './scim-groups.queries.js'
import { originOfScim } from './scim-tokens.js'
import { createScimUser, deleteScimUser, patchScimUser, replaceScimUser } from './scim-users.js'
import { findScimUser, listScimUsers } from './scim-users.queries.js'
import { locationOf, viewScimUser, viewScimUsers } from './user-resource.js'

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
  await app.register(routesOf('Users', users))
  await app.register(routesOf('Groups', groups))
  // With a valid token, a wrong path or method gets an answer that says what is wrong.
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
  for (const url of ['/:kind', '/:kind/:id'])
    app.route({ method: methods, url, config, schema: { hide }, handler: refuse })
}

const WITHOUT = /^\/(Me|Bulk|\.search)(\/|$)/
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
    DOCUMENT.test(path) && 'GET'
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

/** What a kind of resource does. */
interface Kind {
  readonly list: (query: List) => Promise<object>
  /** Undefined when the directory has no such resource. */
  readonly show: (id: number, chosen: Chosen) => Promise<object | undefined>
  readonly create: (body: unknown, origin: Origin) => Promise<number>
  readonly replace: (id: number, body: unknown, origin: Origin) => Promise<void>
  readonly patch: (id: number, operations: readonly Operation[], origin: Origin) => Promise<void>
  readonly remove: (id: number, origin: Origin) => Promise<void>
}

const users: Kind = {
  list: async query => viewScimUsers(await listScimUsers(query), query),
  show: async (id, chosen) => {
    const found = await findScimUser(id)
    return found && viewScimUser(found, chosen)
  },
  create: createScimUser,
  replace: replaceScimUser,
  patch: patchScimUser,
  remove: deleteScimUser
}

const groups: Kind = {
  list: async query => viewScimGroups(await listScimGroups(query), query),
  show: async (id, chosen) => {
    const found = await findScimGroup(id)
    return found && viewScimGroup(found, chosen)
  },
  create: createScimGroup,
  replace: replaceScimGroup,
  patch: patchScimGroup,
  remove: deleteScimGroup
}

const routesOf =
  (name: 'Users' | 'Groups', { list, show, create, replace, patch, remove }: Kind): FastifyPluginAsyncTypebox =>
  async app => {
    const one = `/${name}/:id` as const
    const shown = async (id: number, chosen: Chosen) => {
      const found = await show(id, chosen)
      if (!found) throw new NotFound()
      return found
    }
    app.get(`/${name}`, listing, async ({ query }) => list(query))
    app.post(`/${name}/.search`, searching, async ({ body }) => list(queryOf(body)))
    app.post(`/${name}`, creating, async (request, reply) => {
      const id = await create(request.body, origin(request))
      return reply
        .code(201)
        .header('location', locationOf(name, id))
        .send(await shown(id, request.query))
    })
    app.get(one, reading, async ({ params, query }) => shown(numberOf(params), query))
    app.put(one, replacing, async request => {
      await replace(numberOf(request.params), request.body, origin(request))
      return shown(numberOf(request.params), request.query)
    })
    app.patch(one, patching, async request => {
      await patch(numberOf(request.params), request.body.Operations, origin(request))
      return shown(numberOf(request.params), request.query)
    })
    app.delete(one, deleting, async (request, reply) => {
      await remove(numberOf(request.params), origin(request))
      return reply.code(204).send()
    })
  }

function origin({ directory }: FastifyRequest): Origin {
  if (!directory) throw new Error('a request of SCIM has no token')
  return directory
}

/** A text that is no number is the id of no resource. */
const numberOf = ({ id }: { readonly id: string }): number => (/^\d{1,10}$/.test(id) ? Number(id) : 0)

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const found = scimError(error)
  if (found?.status === 401) reply.header('www-authenticate', 'Bearer realm="SCIM"')
  if (found?.retryAfter !== undefined) reply.header('retry-after', String(found.retryAfter))
  if (found) return reply.code(found.status).send(found.body)
  log().error({ error, request: request.id, method: request.method, route: request.routeOptions.url }, 'request failed')
  return reply.code(500).send({ schemas: [ERROR], status: '500', detail: 'The server has failed' })
}
