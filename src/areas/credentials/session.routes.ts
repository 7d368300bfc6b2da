import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { BadParameters, Unauthorized } from '../../errors.js'
import { revealPrivateToken } from '../users/users.js'
import { findUser } from '../users/users.queries.js'
import { viewAccount } from '../users/users.record.js'
import { Account } from '../users/users.view.js'
import { userOfPassword } from './credentials.js'
import { SessionBody } from './session.schema.js'

export const sessionRoutes: FastifyPluginAsyncTypebox = async app => {
  app.post(
    '/session',
    {
      config: { public: true, rateLimit: { max: 20, timeWindow: 60_000 } },
      schema: { tags: ['Users'], body: SessionBody, response: { 201: Account } }
    },
    async ({ body, ip }, reply) => {
      const login = body.login ?? body.email
      if (login === undefined) throw BadParameters.missing('login')
      const asker = await userOfPassword(login, body.password, ip)
      const user = asker && (await findUser(asker.id))
      if (!user) throw new Unauthorized()
      return reply.code(201).send(viewAccount(user, await revealPrivateToken(user.id)))
    }
  )
}
