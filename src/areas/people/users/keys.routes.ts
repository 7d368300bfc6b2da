import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { askerOf } from '../../../access/actor.js'
import { NotFound } from '../../../errors.js'
import { NumberedUserParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { addKey, deleteKey } from './keys.js'
import { findAnyKey, listKeys, requireKey } from './keys.queries.js'
import { AnyKeyParams, KeyBody, KeyParams, UserKeyParams } from './keys.schema.js'
import { Key, KeyOrNothing, KeyWithUser, viewKey, viewKeyWithUser } from './keys.view.js'
import { findUser, requireNumberedUser } from './users.queries.js'

const TAGS = ['Users']

export const keyRoutes: FastifyPluginAsyncTypebox = async app => {
  await app.register(ownKeyRoutes)
  await app.register(othersKeyRoutes)
}

const ownKeyRoutes: FastifyPluginAsyncTypebox = async app => {
  const read = { can: 'account.read' as const }
  const write = { can: 'account.write' as const }

  app.get(
    '/user/keys',
    { config: read, schema: { tags: TAGS, summary: 'List your SSH keys', response: { 200: Type.Array(Key) } } },
    async ({ actor }) => (await listKeys(askerOf(actor).id)).map(viewKey)
  )

  app.get(
    '/user/keys/:key_id',
    {
      config: read,
      schema: { tags: TAGS, summary: 'Get one of your SSH keys', params: KeyParams, response: { 200: Key } }
    },
    async ({ params, actor }) => viewKey(await requireKey(askerOf(actor).id, params.key_id))
  )

  app.post(
    '/user/keys',
    {
      config: write,
      schema: { tags: TAGS, summary: 'Add an SSH key to your account', body: KeyBody, response: { 201: Key } }
    },
    async ({ body, actor, origin }, reply) => reply.code(201).send(viewKey(await addKey(askerOf(actor), body, origin)))
  )

  // Idempotent: deleting a key that does not exist returns 200 without a key.
  app.delete(
    '/user/keys/:key_id',
    {
      config: write,
      schema: {
        tags: TAGS,
        summary: 'Delete one of your SSH keys',
        description: 'Returns 200 with an empty body when the key does not exist.',
        params: KeyParams,
        response: { 200: KeyOrNothing }
      }
    },
    async ({ params, actor, origin }, reply) => {
      const key = await deleteKey(askerOf(actor), params.key_id, origin)
      return key ? viewKey(key) : reply.send(undefined)
    }
  )
}

const othersKeyRoutes: FastifyPluginAsyncTypebox = async app => {
  const read = { can: 'user.read_account' as const }
  const config = { can: 'user.administer' as const }

  app.get(
    '/users/:id/keys',
    {
      config: read,
      schema: {
        tags: TAGS,
        summary: 'List the SSH keys of a user',
        params: NumberedUserParams,
        response: { 200: Type.Array(Key) }
      }
    },
    async ({ params }) => (await listKeys((await requireNumberedUser(params.id)).id)).map(viewKey)
  )

  app.post(
    '/users/:id/keys',
    {
      config,
      schema: {
        tags: TAGS,
        summary: 'Add an SSH key to a user',
        params: NumberedUserParams,
        body: KeyBody,
        response: { 201: Key }
      }
    },
    async ({ params, body, origin }, reply) =>
      reply.code(201).send(viewKey(await addKey(await requireNumberedUser(params.id), body, origin)))
  )

  app.delete(
    '/users/:id/keys/:key_id',
    {
      config,
      schema: { tags: TAGS, summary: 'Delete an SSH key of a user', params: UserKeyParams, response: { 200: Key } }
    },
    async ({ params, origin }) => {
      const key = await deleteKey(await requireNumberedUser(params.id), params.key_id, origin)
      if (!key) throw new NotFound('Key')
      return viewKey(key)
    }
  )

  app.get(
    '/keys/:id',
    {
      config,
      schema: {
        tags: TAGS,
        summary: 'Get any SSH key with its user',
        params: AnyKeyParams,
        response: { 200: KeyWithUser }
      }
    },
    async ({ params }) => {
      const key = await findAnyKey(params.id)
      const user = key && (await findUser(key.user_id))
      if (!user) throw new NotFound()
      return viewKeyWithUser(key, user)
    }
  )
}
