// The requirement only specifies that a user can create any number of tokens and revoke each.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Actor, askerOf } from '../../../access/actor.js'
import { authorizeRecord } from '../../../access/records.js'
import { Forbidden } from '../../../errors.js'
import { NumberedUserParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { requireNumberedUser } from '../users/users.queries.js'
import { createToken, revokeToken } from './tokens.js'
import { pageOfTokens, requireToken, TOKEN_RECORD } from './tokens.queries.js'
import { TokenBody, TokenListQuery, TokenParams } from './tokens.schema.js'
import { NewToken, Token, viewNewToken, viewToken } from './tokens.view.js'

const TAGS = ['Users']

export const tokenRoutes: FastifyPluginAsyncTypebox = async app => {
  const list = { can: 'token.list' as const }
  const create = { can: 'token.create' as const }

  app.get(
    '/personal_access_tokens',
    {
      config: list,
      schema: {
        tags: TAGS,
        summary: 'List personal access tokens',
        description: 'Your own tokens, newest first; administrators see the tokens of all users.',
        querystring: TokenListQuery,
        response: { 200: Type.Array(Token) },
        errors: [403]
      }
    },
    async ({ query, actor }, reply) => {
      const { id, admin } = askerOf(actor)
      if (!admin && query.user_id !== undefined && query.user_id !== id) throw new Forbidden()
      return reply.page(await pageOfTokens(admin ? query.user_id : id, query), viewToken)
    }
  )

  app.get(
    '/personal_access_tokens/:id',
    {
      config: { can: 'token.read' },
      schema: { tags: TAGS, summary: 'Get a personal access token', params: TokenParams, response: { 200: Token } }
    },
    async ({ params, actor }) => viewToken(await openToken(params.id, actor, 'token.read'))
  )

  app.post(
    '/personal_access_tokens',
    {
      config: create,
      schema: {
        tags: TAGS,
        summary: 'Create a personal access token for yourself',
        description: 'Personal access tokens cannot create tokens: use the private token or a session.',
        body: TokenBody,
        response: { 201: NewToken },
        errors: [403]
      }
    },
    async ({ body, actor, origin }, reply) =>
      reply.code(201).send(viewNewToken(await createToken(askerOf(actor), body, origin)))
  )

  app.post(
    '/users/:id/personal_access_tokens',
    {
      config: { can: 'user.administer' },
      schema: {
        tags: TAGS,
        summary: 'Create a personal access token for a user',
        params: NumberedUserParams,
        body: TokenBody,
        response: { 201: NewToken }
      }
    },
    async ({ params, body, origin }, reply) =>
      reply.code(201).send(viewNewToken(await createToken(await requireNumberedUser(params.id), body, origin)))
  )

  app.delete(
    '/personal_access_tokens/:id',
    {
      config: { can: 'token.revoke' },
      schema: {
        tags: TAGS,
        operationId: 'revokePersonalAccessToken',
        summary: 'Revoke a personal access token',
        params: TokenParams,
        response: { 200: Token }
      }
    },
    async ({ params, actor, origin }) => {
      const { id } = await openToken(params.id, actor, 'token.revoke')
      return viewToken(await revokeToken(id, origin))
    }
  )
}

/** Returns a token that the actor may read or revoke. Throws NotFound for all other tokens. */
async function openToken(id: number, actor: Actor, action: 'token.read' | 'token.revoke') {
  const token = await requireToken(id)
  authorizeRecord(actor, action, { owner: token.user_id }, TOKEN_RECORD)
  return token
}
