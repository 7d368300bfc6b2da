import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { askerOf } from '../../../access/actor.js'
import { addKey, deleteKey } from '../../../areas/people/users/keys.js'
import { listKeys } from '../../../areas/people/users/keys.queries.js'
import { type KeyBody, KeyParams } from '../../../areas/people/users/keys.schema.js'
import { Type } from '../../../lib/type.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { showOwn } from './menu.js'

const PATH = '/profile/keys'

/** An empty title becomes the comment of the key. */
const NewKey = Type.Object({
  title: Type.Optional(Type.String({ maxLength: 255 })),
  key: Type.Optional(Type.String({ maxLength: 20_000 }))
})
type NewKey = Partial<KeyBody>

export const keyPages: FastifyPluginAsyncTypebox = async app => {
  app.get(PATH, { config: { can: 'account.read' } }, (request, reply) => showKeys(request, reply))

  app.post(PATH, { config: { can: 'account.write' }, schema: { body: NewKey } }, async (request, reply) => {
    const { key = '', title = commentOf(key) } = request.body
    try {
      await addKey(askerOf(request.actor), { title, key }, request.origin)
    } catch (error) {
      return showKeys(request, reply.code(400), request.body, refusalsOf(error))
    }
    return reply.redirect(PATH, 303)
  })

  app.post(
    `${PATH}/:key_id/delete`,
    { config: { can: 'account.write' }, schema: { params: KeyParams } },
    async ({ actor, params, origin }, reply) => {
      await deleteKey(askerOf(actor), params.key_id, origin)
      return reply.redirect(PATH, 303)
    }
  )
}

const commentOf = (key: string): string => key.trim().split(/\s+/).slice(2).join(' ').slice(0, 255) || 'My key'

async function showKeys(request: FastifyRequest, reply: FastifyReply, entered?: NewKey, refusals: Refusals = {}) {
  const keys = await listKeys(askerOf(request.actor).id)
  return showOwn(request, reply, 'keys', { title: 'SSH keys', keys, entered, refusals })
}
