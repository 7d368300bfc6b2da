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
import { SESSION_COOKIE } from '../../plugins/authenticate.js'
import { showOwn } from './menu.js'

const PATH = '/profile/sessions'
const Params = Type.Object({ id: Type.String({ maxLength: 64 }) })

const cookieOf = ({ cookies }: FastifyRequest): string => cookies[SESSION_COOKIE] ?? ''

export const sessionPages: FastifyPluginAsyncTypebox = async app => {
  const write = { can: 'account.write' as const }

  app.get(PATH, { config: { can: 'account.read' } }, async (request, reply) => {
    const { items, total } = await listSessions(askerOf(request.actor).id)
    const sessions = items.map(session => ({
      ...session,
      id: session.id.toString('hex'),
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
