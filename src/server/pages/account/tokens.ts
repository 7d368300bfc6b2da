import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { askerOf } from '../../../access/actor.js'
import { createToken, revokeToken } from '../../../areas/people/credentials/tokens.js'
import { pageOfTokens, requireToken, TOKEN_RECORD } from '../../../areas/people/credentials/tokens.queries.js'
import { TokenBody, TokenParams } from '../../../areas/people/credentials/tokens.schema.js'
import { endOf, stateOf } from '../../../areas/people/credentials/tokens.state.js'
import { NotFound } from '../../../errors.js'
import { Type } from '../../../lib/type.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { showOwn } from './menu.js'
import { ChosenScopes, scopeChoice } from './scope-choice.js'

const PATH = '/profile/personal_access_tokens'

const NewToken = Type.Object({
  name: TokenBody.properties.name,
  expires_at: TokenBody.properties.expires_at,
  scopes: ChosenScopes
})
const TokenPage = Type.Object({ page: Type.Optional(Type.Integer({ minimum: 1 })) })

interface Shown {
  readonly page?: number | undefined
  /** The new token. No other page shows it. */
  readonly made?: { readonly name: string; readonly token: string }
  readonly entered?: { readonly name: string; readonly expires_at?: string }
  readonly refusals?: Refusals
}

export const tokenPages: FastifyPluginAsyncTypebox = async app => {
  app.get(PATH, { config: { can: 'token.list' }, schema: { querystring: TokenPage } }, (request, reply) =>
    showTokens(request, reply, { page: request.query.page })
  )

  app.post(PATH, { config: { can: 'token.create' }, schema: { body: NewToken } }, async (request, reply) => {
    try {
      const { row, token } = await createToken(askerOf(request.actor), request.body, request.origin)
      return showTokens(request, reply.code(201), { made: { name: row.name, token } })
    } catch (error) {
      return showTokens(request, reply.code(400), { entered: request.body, refusals: refusalsOf(error) })
    }
  })

  app.post(
    `${PATH}/:id/revoke`,
    { config: { can: 'account.write' }, schema: { params: TokenParams } },
    async ({ actor, params, origin }, reply) => {
      const { id, user_id } = await requireToken(params.id)
      if (user_id !== askerOf(actor).id) throw new NotFound(TOKEN_RECORD)
      await revokeToken(id, origin)
      return reply.redirect(PATH, 303)
    }
  )
}

async function showTokens(
  request: FastifyRequest,
  reply: FastifyReply,
  { page = 1, made, entered, refusals = {} }: Shown
): Promise<FastifyReply> {
  const tokens = await pageOfTokens(askerOf(request.actor).id, { page, per_page: 50 })
  return showOwn(request, reply, 'tokens', {
    title: 'Personal access tokens',
    made,
    entered,
    refusals,
    scopes: scopeChoice(),
    tokens: {
      ...tokens,
      items: tokens.items.map(token => ({ ...token, expires: endOf(token), state: stateOf(token) }))
    }
  })
}
