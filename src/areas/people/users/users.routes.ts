import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { NotFound, Unauthorized } from '../../../errors.js'
import { Flag, NumberedUserParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { blockUser, unblockUser } from './user-state.js'
import { updateUser } from './user-update.js'
import { createUser, revealPrivateToken } from './users.js'
import { findUser, listUsers, listUsersInShort, requireNumberedUser, userNumber } from './users.queries.js'
import { viewAccount, viewUser, viewUserBasic, viewUserForAdmin } from './users.record.js'
import { UserBody, UserChange, UserListQuery } from './users.schema.js'
import { Account, User, UserInList } from './users.view.js'

export const userRoutes: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/user',
    {
      config: { can: 'user.read' },
      schema: { tags: ['Users'], summary: 'Get your own account', response: { 200: Account } }
    },
    async ({ actor }) => {
      const user = actor.user && (await findUser(actor.user.id))
      if (!user) throw new Unauthorized()
      return viewAccount(user, actor.sudoer ? await revealPrivateToken(user.id) : undefined)
    }
  )

  app.get(
    '/users',
    {
      config: { can: 'user.read' },
      schema: {
        tags: ['Users'],
        summary: 'List users',
        querystring: UserListQuery,
        response: { 200: Type.Array(UserInList) }
      }
    },
    async ({ query, actor }, reply) => {
      if (!actor.user?.admin) return reply.page(await listUsersInShort(query), viewUserBasic)
      return reply.page(await listUsers(query, { admin: true }), viewUserForAdmin)
    }
  )

  app.get(
    '/users/:id',
    {
      config: { can: 'user.read' },
      schema: { tags: ['Users'], summary: 'Get a user', params: NumberedUserParams, response: { 200: User } }
    },
    async ({ params, actor }) => {
      const user = await requireNumberedUser(params.id)
      return actor.user?.admin ? viewUserForAdmin(user) : viewUser(user)
    }
  )

  app.post(
    '/users',
    {
      config: { can: 'user.administer' },
      schema: { tags: ['Users'], summary: 'Create a user', body: UserBody, response: { 201: User }, errors: [409] }
    },
    async ({ body, origin }, reply) => {
      const { id } = await createUser(body, origin)
      const user = await findUser(id)
      if (!user) throw new NotFound('User')
      return reply.code(201).send(viewUserForAdmin(user))
    }
  )

  app.put(
    '/users/:id',
    {
      config: { can: 'user.administer' },
      schema: {
        tags: ['Users'],
        summary: 'Change a user',
        description:
          'A new username moves the projects of the user to it; a new password ends the sessions of the user. Returns 404 when another user has the email address or username.',
        params: NumberedUserParams,
        body: UserChange,
        response: { 200: User }
      }
    },
    async ({ params, body, origin }) => {
      await updateUser(userNumber(params.id), body, origin)
      return viewUserForAdmin(await requireNumberedUser(params.id))
    }
  )

  const state = (verb: 'block' | 'unblock', rule: typeof blockUser, summary: string) =>
    app.put(
      `/users/:id/${verb}`,
      {
        config: { can: 'user.administer' },
        schema: {
          tags: ['Users'],
          summary,
          params: NumberedUserParams,
          response: { 200: Flag('false when nothing changed') }
        }
      },
      async ({ params, origin }) => rule(userNumber(params.id), origin)
    )

  state('block', blockUser, 'Block a user and end their sessions')
  state('unblock', unblockUser, 'Unblock a user')
}
