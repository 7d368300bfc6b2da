import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { askerOf } from '../../../access/actor.js'
import { updateUser } from '../../../areas/people/users/user-update.js'
import { findUser } from '../../../areas/people/users/users.queries.js'
import { OwnProfile } from '../../../areas/people/users/users.schema.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { showOwn } from './menu.js'

const PATH = '/profile'

export const profilePages: FastifyPluginAsyncTypebox = async app => {
  app.get(PATH, { config: { can: 'account.read' } }, (request, reply) => showForm(request, reply))

  app.post(PATH, { config: { can: 'account.write' }, schema: { body: OwnProfile } }, async (request, reply) => {
    try {
      await updateUser(askerOf(request.actor).id, request.body, request.origin)
    } catch (error) {
      return showForm(request, reply.code(400), request.body, refusalsOf(error))
    }
    return reply.redirect(`${PATH}?saved=1`, 303)
  })
}

async function showForm(request: FastifyRequest, reply: FastifyReply, entered?: OwnProfile, refusals: Refusals = {}) {
  const user = await findUser(askerOf(request.actor).id)
  const { saved } = request.query as { saved?: string }
  return showOwn(request, reply, 'profile', {
    title: 'Profile',
    user,
    values: { ...user, ...entered },
    refusals,
    saved: saved === '1' && entered === undefined
  })
}
