import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { askerOf } from '../../../access/actor.js'
import { directoryOf } from '../../../areas/people/credentials/password-sign-in.js'
import { hasLocalPassword } from '../../../areas/people/users/password-rules.js'
import { changePassword } from '../../../areas/reach/accounts/passwords.js'
import { config } from '../../../config.js'
import { TooManyRequests } from '../../../errors.js'
import { Type } from '../../../lib/type.js'
import { SESSION_COOKIE } from '../../plugins/authenticate.js'
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
    const kept = request.cookies[SESSION_COOKIE]
    try {
      await changePassword(user, { current, password, kept }, request.origin)
    } catch (error) {
      if (error instanceof TooManyRequests) throw error
      return showForm(request, reply.code(400), refusalsOf(error))
    }
    return reply.redirect(`${PATH}?saved=1`, 303)
  })
}

async function showForm(request: FastifyRequest, reply: FastifyReply, refusals: Refusals = {}) {
  const user = askerOf(request.actor)
  const { saved } = request.query as { saved?: string }
  return showOwn(request, reply, 'password', {
    title: 'Password',
    local: hasLocalPassword(user.username),
    elsewhere: (await directoryOf(user.id)) !== null,
    minimum: config().identity.passwords.min_length,
    refusals,
    saved: saved === '1' && request.method === 'GET'
  })
}
