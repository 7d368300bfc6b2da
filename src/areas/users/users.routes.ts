import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { NotFound, Unauthorized } from '../../errors.js'
import { createUser, revealPrivateToken } from './users.js'
import { findNumberedUser, findUser, listUsers } from './users.queries.js'
import { UserBody, UserListQuery, UserParams } from './users.schema.js'
import { Account, User, UserInList, viewAccount, viewUser, viewUserBasic, viewUserForAdmin } from './users.view.js'

export const userRoutes: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/user',
    { config: { can: 'user.read' }, schema: { tags: ['Users'], response: { 200: Account } } },
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
      schema: { tags: ['Users'], querystring: UserListQuery, response: { 200: Type.Array(UserInList) } }
    },
    async ({ query, actor }, reply) => {
      const admin = actor.user?.admin ?? false
      return reply.page(await listUsers(query, { admin }), admin ? viewUserForAdmin : viewUserBasic)
    }
  )

  app.get(
    '/users/:id',
    { config: { can: 'user.read' }, schema: { tags: ['Users'], params: UserParams, response: { 200: User } } },
    async ({ params, actor }) => {
      const user = await findNumberedUser(params.id)
      if (!user) throw new NotFound('User')
      return actor.user?.admin ? viewUserForAdmin(user) : viewUser(user)
    }
  )

  app.post(
    '/users',
    { config: { can: 'user.administer' }, schema: { tags: ['Users'], body: UserBody, response: { 201: User } } },
    async ({ body, origin }, reply) => {
      const { id } = await createUser(body, origin)
      const user = await findUser(id)
      if (!user) throw new NotFound('User')
      return reply.code(201).send(viewUserForAdmin(user))
    }
  )
}
