// Identifies the caller ("Authentication"): by a private token, a personal access token, an OAuth token or a session cookie;
// and handles sudo.
//
// Credentials in headers and in the query are checked before the server reads the body. A request without them may have
// them among the parameters of its body: it is authenticated, and its route is opened, once the body is read.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type {} from '@fastify/cookie'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Actor, isFactorOverdue, nobody, type Origin, originOf } from '../../access/actor.js'
import { requireScope } from '../../access/authorize.js'
import {
  actorOfAnyToken,
  actorOfSession,
  actorOfToken,
  actorOfWrite,
  findSudoUser,
  isOAuthToken,
  refuseSudo
} from '../../areas/people/credentials/credentials.js'
import { refuseToken } from '../../areas/people/credentials/login-throttle.js'
import { findAsked, findVisited, findWritten } from '../../areas/projects/projects/projects.queries.js'
import { BadParameters, Forbidden, SecondFactorDue, Unauthorized } from '../../errors.js'
import { isOtherOrigin } from '../pages/same-origin.js'
import { openRoute, projectIdOf, projectPathOf } from './access.js'
import { checksWithToken } from './maintenance-mode.js'

export const SESSION_COOKIE = '_service_session'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the handler runs. */
    actor: Actor
    /** Who makes a change with this request, and from where. */
    readonly origin: Origin
    /** True until the body is read, when credentials can only be in the body. */
    awaitsCredentials: boolean
  }
  interface FastifyContextConfig {
    /** The route is a page for people (pages/page-routes.ts). */
    readonly page?: true
    /** The page is for setting up a second factor: a session without the required one opens only these. */
    readonly opensWithoutFactor?: true
  }
}

/** Parameters that identify the caller. In a query or body they may have any type. */
interface Named {
  readonly private_token?: unknown
  readonly access_token?: unknown
  readonly bearer_token?: unknown
  readonly sudo?: unknown
}

/** A token, and how its place is read: an OAuth token is not accepted where private and personal tokens belong. */
interface Shown {
  readonly token: string
  readonly find: (token: string) => Promise<Actor | null>
}

export function authenticate(app: FastifyInstance): void {
  app.decorateRequest('actor', null as never)
  app.decorateRequest('awaitsCredentials', false)
  app.decorateRequest('origin', {
    getter() {
      return originOf(this.actor, this.address)
    }
  })
  // Not an async function: public routes, such as those of runners, wait for nothing.
  app.addHook('onRequest', (request, _reply, done) => {
    request.actor = nobody
    const { page, public: isOpen } = request.routeOptions.config
    if (isOpen && !page) return done()
    identify(request).then(() => done(), done)
  })
}

/** Sets the actor of a request by its headers and its query. Throws Unauthorized for wrong ones. */
export async function identify(request: FastifyRequest): Promise<void> {
  const { page, opensWithoutFactor } = request.routeOptions.config
  request.actor = await (page ? visitorOfPage(request) : findActor(request))
  if (isFactorOverdue(request.actor) && !opensWithoutFactor) throw new SecondFactorDue()
  request.awaitsCredentials = request.actor === nobody && hasParametersInBody(request)
}

/** Looks for credentials in the bodies of the routes of `app`. Call it after `readInput`. */
export function authenticateByBody(app: FastifyInstance): void {
  app.addHook('preValidation', (request, _reply, done) => {
    const { awaitsCredentials, bodyCredentials } = request
    if (!awaitsCredentials && (bodyCredentials?.sudo === undefined || request.routeOptions.config.page)) return done()
    readBody(request, bodyCredentials ?? {}).then(() => done(), done)
  })
}

async function readBody(request: FastifyRequest, named: Named): Promise<void> {
  const { public: isOpen, page } = request.routeOptions.config
  if (isOpen) return
  if (request.awaitsCredentials) {
    request.awaitsCredentials = false
    // The visitor of a page is known. The body had to be read first, so that what the visitor wrote can be kept until signed in.
    if (page) return openRoute(request)
    const shown = parameter(named)
    if (shown) request.actor = await byToken(request, shown)
  }
  // A `sudo` in a header or the query comes first, and was already applied if it came with a token.
  if (request.actor.sudoer === null) request.actor = await actAs(request.actor, sudoOf(request) ?? named.sudo)
  await openRoute(request)
}

/**
 * A page knows its visitor by the session cookie only, and shows itself to everybody else as to nobody. A form may have the cookie:
 * the pages check where it comes from.
 */
async function visitorOfPage(request: FastifyRequest): Promise<Actor> {
  const session = request.cookies[SESSION_COOKIE]
  if (!session || (isRead(request) && isOtherOrigin(request))) return nobody
  const path = projectPathOf(request)
  if (path === undefined) return (await actorOfSession(session)) ?? nobody
  const visited = await findVisited(session, ...path)
  // A project that was not found may have had this path before.
  if (visited?.project) request.found = visited
  return visited?.actor ?? nobody
}

const BODIES = /^(application\/(json|x-www-form-urlencoded)|multipart\/form-data)\b/i

function hasParametersInBody({ method, headers }: FastifyRequest): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  const empty = headers['content-length'] === '0' || (!headers['content-length'] && !headers['transfer-encoding'])
  return !empty && BODIES.test(headers['content-type'] ?? '')
}

/**
 * Returns the actor of a request by its headers and its query; `nobody` without credentials there. Throws Unauthorized
 * when the credentials are wrong.
 */
export async function findActor(request: FastifyRequest): Promise<Actor> {
  const shown = headerOf(request) ?? parameter(request.query as Named)
  if (shown) return actAs(await byToken(request, shown), sudoOf(request))
  // A cookie is valid only for reads, and not for pages of other origins, because any page can make a browser send it.
  const session = isRead(request) && !isOtherOrigin(request) ? request.cookies[SESSION_COOKIE] : undefined
  return session ? actAs(await bySession(request, session), sudoOf(request)) : nobody
}

const isRead = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD'

/** Headers come before the query. Not specified: private and personal tokens are also accepted where OAuth tokens belong. */
function headerOf({ headers }: FastifyRequest): Shown | undefined {
  const header = headers['private-token']
  if (typeof header === 'string') return { token: header, find: actorOfToken }
  const token = bearerToken(headers.authorization)
  return token === undefined ? undefined : { token, find: actorOfAnyToken }
}

/** The token of a PRIVATE-TOKEN or Bearer header. */
export const headerToken = (request: FastifyRequest): string | undefined => headerOf(request)?.token

/** The token of an Authorization header. */
export const bearerToken = (header: string | undefined): string | undefined =>
  /^bearer +(\S+)$/i.exec(header ?? '')?.[1]

function parameter({ private_token: own, access_token, bearer_token }: Named): Shown | undefined {
  const token = own ?? access_token ?? bearer_token
  if (token === undefined || token === null) return undefined
  if (typeof token !== 'string') throw new Unauthorized()
  return { token, find: own === undefined || own === null ? actorOfAnyToken : actorOfToken }
}

const sudoOf = ({ headers, query }: FastifyRequest): unknown => headers.sudo ?? (query as Named).sudo

async function byToken(request: FastifyRequest, shown: Shown): Promise<Actor> {
  const actor = (await findShown(request, shown)) ?? refuseToken(request.address)
  requireScope(actor, request.routeOptions.config.can)
  return actor
}

/** Reads the project of the path together with the token. With sudo, the project is read again for the other user. */
async function findShown(request: FastifyRequest, { token, find: lookUp }: Shown): Promise<Actor | null> {
  const isWrite = checksWithToken(request)
  // A short body arrives with the headers. Node.js reads it in this turn of the event loop.
  if (isWrite && !request.raw.complete) await nextTurn()
  const id = lookUp === actorOfAnyToken && isOAuthToken(token) ? undefined : projectIdOf(request)
  if (id === undefined) return isWrite ? actorOfWrite(token) : lookUp(token)
  const { showsProject: shown, kept: version } = request.routeOptions.config
  request.found = isWrite ? await findWritten(token, id, { shown }) : await findAsked(token, id, { shown, version })
  return request.found?.actor ?? null
}

async function bySession(request: FastifyRequest, session: string): Promise<Actor> {
  return (await actorOfSession(session)) ?? refuseToken(request.address)
}

async function actAs(actor: Actor, wanted: unknown): Promise<Actor> {
  if (wanted === undefined || wanted === null || actor.user === null) return actor
  if (!actor.user.admin) throw new Forbidden('Must be admin to use sudo')
  if (actor.by !== 'private') throw new Forbidden('Private token must be specified in order to use sudo')
  // In JSON it may be a number.
  const name = typeof wanted === 'number' ? String(wanted) : wanted
  if (typeof name !== 'string') throw new BadParameters('sudo is invalid')
  const user = (await findSudoUser(name)) ?? (await refuseSudo(name))
  return { ...actor, user, sudoer: actor.user }
}
