import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { askerOf } from '../../../access/actor.js'
import {
  isSessionOf,
  listSessions,
  revokeOtherSessions,
  revokeSession
} from '../../../areas/people/credentials/sessions.js'
import { Type } from '../../../lib/type.js'
import { visible } from '../../../lib/visible.js'
import { SESSION_COOKIE } from '../../plugins/authenticate.js'
import { showOwn } from './menu.js'

const PATH = '/profile/sessions'
const Params = Type.Object({ id: Type.String({ maxLength: 64 }) })

const cookieOf = ({ cookies }: FastifyRequest): string => cookies[SESSION_COOKIE] ?? ''

/** The names that a browser gives itself, the most particular first: most browsers also name others. */
const BROWSERS = { Firefox: /Firefox|FxiOS/, Edge: /Edg/, Opera: /OPR/, Chrome: /Chrome|CriOS/, Safari: /Safari/ }
const SYSTEMS = { Android: /Android/, iOS: /iPhone|iPad/, Windows: /Windows/, macOS: /Mac OS/, Linux: /Linux|X11/ }

/** The name of a browser and its system, such as `Firefox on Linux`; for other programs, what they call themselves. */
function browserOf(userAgent: string): string {
  const named = (names: Readonly<Record<string, RegExp>>) =>
    Object.entries(names).find(([, pattern]) => pattern.test(userAgent))?.[0]
  const [browser, system] = [named(BROWSERS), named(SYSTEMS)]
  if (browser) return system ? `${browser} on ${system}` : browser
  return visible(userAgent.slice(0, 60)) || 'unknown'
}

export const sessionPages: FastifyPluginAsyncTypebox = async app => {
  const write = { can: 'account.write' as const }

  app.get(PATH, { config: { can: 'account.read' } }, async (request, reply) => {
    const { items, total } = await listSessions(askerOf(request.actor).id)
    const sessions = items.map(session => ({
      ...session,
      id: session.id.toString('hex'),
      browser: browserOf(session.user_agent),
      current: isSessionOf(session, cookieOf(request))
    }))
    return showOwn(request, reply, 'sessions', { title: 'Sessions', total, sessions })
  })

  app.post(`${PATH}/:id/revoke`, { config: write, schema: { params: Params } }, async (request, reply) => {
    await revokeSession(askerOf(request.actor), request.params.id, request.origin)
    return reply.redirect(PATH, 303)
  })

  app.post(`${PATH}/revoke_others`, { config: write }, async (request, reply) => {
    await revokeOtherSessions(askerOf(request.actor), cookieOf(request), request.origin)
    return reply.redirect(PATH, 303)
  })
}
