import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { askerOf } from '../../../access/actor.js'
import { beginSession } from '../../../areas/people/credentials/credentials.js'
import { changePassword } from '../../../areas/reach/accounts/passwords.js'
import { TooManyRequests } from '../../../errors.js'
import { Type } from '../../../lib/type.js'
import { SESSION_COOKIE } from '../../plugins/authenticate.js'
import { cookieOptions } from '../open-form.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { showOwn } from './menu.js'

const PATH = '/profile/password'

const Passwords = Type.Object({
  current_password: Type.Optional(Type.String({ maxLength: 1024 })),
  password: Type.Optional(Type.String({ maxLength: 1024 }))
})

export const passwordPages: FastifyPluginAsyncTypebox = async app => {
  app.get(PATH, { config: { can: 'account.read' } }, (request, reply) => showForm(request, reply))

  app.post(PATH, { config: { can: 'account.write' }, schema: { body: Passwords } }, async (request, reply) => {
    const user = askerOf(request.actor)
    const { current_password: current = '', password = '' } = request.body
    try {
      await changePassword(user, { current, password }, request.origin)
    } catch (error) {
      if (error instanceof TooManyRequests) throw error
      return showForm(request, reply.code(400), refusalsOf(error))
    }
    // All sessions have ended: this browser gets a new one.
    const client = { address: request.address, userAgent: request.headers['user-agent'] ?? '' }
    const { cookie, expiresAt } = await beginSession(user, client)
    reply.setCookie(SESSION_COOKIE, cookie, { ...cookieOptions(), expires: expiresAt })
    return reply.redirect(`${PATH}?saved=1`, 303)
  })
}

function showForm(request: FastifyRequest, reply: FastifyReply, refusals: Refusals = {}) {
  const { saved } = request.query as { saved?: string }
  return showOwn(request, reply, 'password', {
    title: 'Password',
    refusals,
    saved: saved === '1' && request.method === 'GET'
  })
}
