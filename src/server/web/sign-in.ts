// The sign-in page, which is the only way to get a session cookie.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { activeBroadcasts } from '../../areas/broadcasts/broadcasts.queries.js'
import { actorOfSession, beginSession, endSession, userOfPassword } from '../../areas/credentials/credentials.js'
import { applicationSettings } from '../../areas/settings/settings.queries.js'
import { publicUrl } from '../../config.js'
import { Forbidden } from '../../errors.js'
import { SESSION_COOKIE } from '../plugins/authenticate.js'
import { sameOrigin } from './same-origin.js'
import { POLICY, signInPage } from './sign-in-page.js'

const SignInBody = Type.Object({
  login: Type.String({ maxLength: 255 }),
  password: Type.String({ maxLength: 1024 })
})

const SIGN_IN = '/users/sign_in'
const SIGNED_IN = '/api/docs'

export const signInRoutes: FastifyPluginAsyncTypebox = async app => {
  const open = { public: true as const, duringMaintenance: true as const }
  const hide = { hide: true }

  app.get('/', { config: open, schema: hide }, async (request, reply) => {
    const cookie = request.cookies[SESSION_COOKIE]
    if (cookie && (await actorOfSession(cookie))) return reply.redirect(SIGNED_IN)
    return reply.redirect((await applicationSettings()).home_page_url ?? SIGN_IN)
  })

  app.get(SIGN_IN, { config: open, schema: hide }, async (_request, reply) => show(reply))

  app.post(
    SIGN_IN,
    { bodyLimit: 16_384, config: open, schema: { ...hide, body: SignInBody } },
    async (request, reply) => {
      if (!sameOrigin(request)) return show(reply.code(403), 'Open this page and sign in from it.')
      const { login, password } = request.body
      const user = await userOfPassword(login, password, request.address).catch(asRefusal)
      if (user instanceof Forbidden) return show(reply.code(403), `${user.reason}.`)
      if (!user) return show(reply.code(401), 'The login or the password is wrong.')
      const client = { address: request.address, userAgent: request.headers['user-agent'] ?? '' }
      const { cookie, expiresAt } = await beginSession(user, client)
      return reply
        .setCookie(SESSION_COOKIE, cookie, {
          path: '/',
          httpOnly: true,
          sameSite: 'lax',
          secure: publicUrl().startsWith('https:'),
          expires: expiresAt
        })
        .redirect(SIGNED_IN, 303)
    }
  )

  app.post('/users/sign_out', { config: open, schema: hide }, async (request, reply) => {
    const cookie = request.cookies[SESSION_COOKIE]
    if (cookie && sameOrigin(request)) await endSession(cookie)
    const { after_sign_out_path: path } = await applicationSettings()
    return reply.clearCookie(SESSION_COOKIE, { path: '/' }).redirect(path ?? SIGN_IN, 303)
  })
}

async function show(reply: FastifyReply, problem?: string): Promise<FastifyReply> {
  const [{ sign_in_text: text }, broadcasts] = await Promise.all([applicationSettings(), activeBroadcasts()])
  return reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', POLICY)
    .send(signInPage({ problem, text, broadcasts }))
}

/** The sign-in page shows why a right password is refused. All other errors get the usual answer. */
function asRefusal(error: unknown): Forbidden {
  if (error instanceof Forbidden) return error
  throw error
}
