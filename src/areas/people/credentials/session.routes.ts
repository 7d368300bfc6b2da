import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { BadParameters, Unauthorized } from '../../../errors.js'
import { revealPrivateToken } from '../users/users.js'
import { findUser } from '../users/users.queries.js'
import { viewAccount } from '../users/users.record.js'
import { Account } from '../users/users.view.js'
import { signInByPassword } from './password-sign-in.js'
import { SessionBody } from './session.schema.js'

export const sessionRoutes: FastifyPluginAsyncTypebox = async app => {
  app.post(
    '/session',
    {
      // Anonymous clients may send this body.
      bodyLimit: 16_384,
      config: { public: true, duringMaintenance: true },
      schema: {
        tags: ['Users'],
        summary: 'Sign in with a password',
        description: 'Returns the account with its private token.',
        body: SessionBody,
        response: { 201: Account },
        errors: [401, 403, 429]
      }
    },
    async ({ body, address }, reply) => {
      const login = body.login ?? body.email
      if (login === undefined) throw BadParameters.missing('login')
      const signedIn = await signInByPassword(login, body.password, { address, door: 'api' })
      const user = signedIn && (await findUser(signedIn.user.id))
      if (!user) throw new Unauthorized()
      return reply.code(201).send(viewAccount(user, await revealPrivateToken(user.id)))
    }
  )
}
