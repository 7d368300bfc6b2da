// Finds out who asks ("Authentication"): by a private token, a personal access token or a session cookie; and sudo.
import '@fastify/cookie'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Actor, nobody, type Origin, originOf } from '../../access/actor.js'
import { requireScope } from '../../access/authorize.js'
import { actorOfSession, actorOfToken, findSudoUser } from '../../areas/credentials/credentials.js'
import { BadParameters, Forbidden, NotFound, Unauthorized } from '../../errors.js'
import { sameOrigin } from '../web/same-origin.js'

export const SESSION_COOKIE = '_service_session'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the handler runs. */
    actor: Actor
    /** Who makes a change by this request, and from where. */
    readonly origin: Origin
  }
}

export function authenticate(app: FastifyInstance): void {
  app.decorateRequest('actor', null as never)
  app.decorateRequest('origin', {
    getter() {
      return originOf(this.actor, this.ip)
    }
  })
  app.addHook('onRequest', async request => {
    request.actor = request.routeOptions.config.public ? nobody : await findActor(request)
  })
}

/** The actor of a request; `nobody` without credentials. Throws Unauthorized when the credentials are wrong. */
export async function findActor(request: FastifyRequest): Promise<Actor> {
  const token = tokenOf(request)
  if (token !== undefined) return actAs(request, await byToken(request, token))
  const session = request.cookies[SESSION_COOKIE]
  return session ? actAs(request, await bySession(request, session)) : nobody
}

function tokenOf(request: FastifyRequest): string | undefined {
  const header = request.headers['private-token']
  if (typeof header === 'string') return header
  const query = (request.query as { private_token?: unknown }).private_token
  if (query === undefined) return undefined
  if (typeof query !== 'string') throw new Unauthorized()
  return query
}

async function byToken(request: FastifyRequest, token: string): Promise<Actor> {
  const actor = await actorOfToken(token)
  if (!actor) throw new Unauthorized()
  requireScope(actor, request.routeOptions.config.can)
  return actor
}

async function bySession(request: FastifyRequest, session: string): Promise<Actor> {
  const actor = await actorOfSession(session)
  if (!actor) throw new Unauthorized()
  // A page of another site can make a browser send the cookie, but it cannot claim the same origin.
  const reading = request.method === 'GET' || request.method === 'HEAD'
  if (!reading && !sameOrigin(request)) throw new Unauthorized()
  return actor
}

async function actAs(request: FastifyRequest, actor: Actor): Promise<Actor> {
  const wanted = request.headers.sudo ?? (request.query as { sudo?: unknown }).sudo
  if (wanted === undefined || actor.user === null) return actor
  if (!actor.user.admin) throw new Forbidden('Must be admin to use sudo')
  if (actor.by !== 'private') throw new Forbidden('Private token must be specified in order to use sudo')
  if (typeof wanted !== 'string') throw new BadParameters('sudo is invalid')
  const user = await findSudoUser(wanted)
  if (!user) throw new NotFound(`No user id or username for: ${wanted}`)
  return { ...actor, user, sudoer: actor.user }
}
