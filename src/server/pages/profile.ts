// The account pages of a user: personal access tokens and sessions.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SCOPES, type Scope } from '../../access/scopes.js'
import { applicationSettings } from '../../areas/ground/settings/settings.queries.js'
import {
  isSessionOf,
  listSessions,
  revokeOtherSessions,
  revokeSession
} from '../../areas/people/credentials/sessions.js'
import { createToken, revokeToken } from '../../areas/people/credentials/tokens.js'
import { pageOfTokens, requireToken, TOKEN_RECORD } from '../../areas/people/credentials/tokens.queries.js'
import { TokenBody, TokenParams } from '../../areas/people/credentials/tokens.schema.js'
import { endOf, stateOf } from '../../areas/people/credentials/tokens.state.js'
import { NotFound } from '../../errors.js'
import { Type } from '../../lib/type.js'
import { type Page, sendPage, shown, sourceOf } from './page.js'
import { requireVisitors } from './page-routes.js'
import type { Visitor } from './visitor.js'

export const WORDS: { readonly [Name in Scope]: string } = {
  api: 'everything that you may do, through the API and git',
  read_user: 'read your account and other users'
}

/** The choice of scopes in a form. A form in which nothing is chosen must not mean all scopes. */
export const scopeChoice = () => SCOPES.map(name => ({ name, means: WORDS[name], checked: name === 'api' }))
export const ChosenScopes = Type.Array(Type.Enum(SCOPES), { minItems: 1, maxItems: 10 })

const NewToken = Type.Object({
  name: TokenBody.properties.name,
  expires_at: TokenBody.properties.expires_at,
  scopes: ChosenScopes
})
const TokenPage = Type.Object({ page: Type.Optional(Type.Integer({ minimum: 1 })) })

export const page = { config: { public: true as const }, schema: { hide: true } }

export const profileRoutes: FastifyPluginAsyncTypebox = async app => {
  requireVisitors(app as never)
  const { config, schema } = page
  const tokens = '/profile/personal_access_tokens'
  const sessions = '/profile/sessions'

  app.get('/profile', page, async (request, reply) => sendOwn(request, reply, 'account', { title: 'Your account' }))

  app.get(tokens, { config, schema: { ...schema, querystring: TokenPage } }, async (request, reply) =>
    showTokens(request, reply, request.query.page)
  )

  app.post(tokens, { config, schema: { ...schema, body: NewToken } }, async (request, reply) => {
    const { user, origin } = request.visitor
    const { row, token } = await createToken(user, request.body, origin)
    return showTokens(request, reply.code(201), 1, { name: row.name, token })
  })

  app.post(`${tokens}/:id/revoke`, { config, schema: { ...schema, params: TokenParams } }, async (request, reply) => {
    const { user, origin } = request.visitor
    const { id, user_id } = await requireToken(request.params.id)
    if (user_id !== user.id) throw new NotFound(TOKEN_RECORD)
    await revokeToken(id, origin)
    return reply.redirect(tokens, 303)
  })

  app.get(sessions, page, async (request, reply) => showSessions(request, reply))

  app.post<{ Params: { id: string } }>(`${sessions}/:id/revoke`, page, async ({ params, visitor }, reply) => {
    await revokeSession(visitor.user, params.id, visitor.origin)
    return reply.redirect(sessions, 303)
  })

  app.post(`${sessions}/revoke_others`, page, async ({ visitor }, reply) => {
    await revokeOtherSessions(visitor.user, visitor.cookie, visitor.origin)
    return reply.redirect(sessions, 303)
  })
}

/** Sends an account page of the signed-in user. Its menu has the form for signing out. */
export async function sendOwn(
  { visitor }: { visitor: Visitor },
  reply: FastifyReply,
  name: string,
  content: Page,
  formsTo: readonly string[] = []
): Promise<FastifyReply> {
  const { after_sign_out_path: path } = await applicationSettings()
  const all = [...formsTo, ...sourceOf(path ?? '')]
  return sendPage(reply, name, { ...content, visitor: visitor.user, formToken: visitor.formToken }, all)
}

async function showTokens(request: FastifyRequest, reply: FastifyReply, at = 1, made?: object): Promise<FastifyReply> {
  const { items, total, perPage } = await pageOfTokens(request.visitor.user.id, { page: at, per_page: 50 })
  const link = (number: number) => `/profile/personal_access_tokens?page=${number}`
  return sendOwn(request, reply, 'tokens', {
    title: 'Personal access tokens',
    made,
    scopes: scopeChoice(),
    tokens: items.map(token => ({
      id: token.id,
      name: token.name,
      scopes: token.scopes,
      created: shown(token.created_at),
      used: shown(token.last_used_at),
      expires: endOf(token) ?? 'never',
      state: stateOf(token)
    })),
    newer: at > 1 ? link(at - 1) : null,
    older: at * perPage < total ? link(at + 1) : null
  })
}

async function showSessions(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { user, cookie } = request.visitor
  const { items, total } = await listSessions(user.id)
  return sendOwn(request, reply, 'sessions', {
    title: 'Sessions',
    total,
    sessions: items.map(session => ({
      id: session.id.toString('hex'),
      created: shown(session.created_at),
      address: session.address,
      browser: session.user_agent,
      ends: shown(session.expires_at),
      current: isSessionOf(session, cookie)
    }))
  })
}
