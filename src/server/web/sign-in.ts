// The sign-in page: the one way to a session cookie.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { beginSession, endSession, userOfPassword } from '../../areas/users/credentials.js'
import { publicUrl } from '../../config.js'
import { SESSION_COOKIE } from '../plugins/authenticate.js'
import { sameOrigin } from './same-origin.js'

const SignInBody = Type.Object({
  login: Type.String({ maxLength: 255 }),
  password: Type.String({ maxLength: 1024 })
})

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"

export const signInRoutes: FastifyPluginAsyncTypebox = async app => {
  const open = { public: true as const }
  const hide = { hide: true }

  app.get('/', { config: open, schema: hide }, async (_request, reply) => reply.redirect('/users/sign_in'))

  app.get('/users/sign_in', { config: open, schema: hide }, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('content-security-policy', POLICY).send(page())
  )

  app.post(
    '/users/sign_in',
    { config: { ...open, rateLimit: { max: 20, timeWindow: 60_000 } }, schema: { ...hide, body: SignInBody } },
    async (request, reply) => {
      const html = reply.type('text/html; charset=utf-8').header('content-security-policy', POLICY)
      if (!sameOrigin(request)) return html.code(403).send(page('Open this page and sign in from it.'))
      const user = await userOfPassword(request.body.login, request.body.password, request.ip)
      if (!user) return html.code(401).send(page('The login or the password is wrong.'))
      const client = { address: request.ip, userAgent: request.headers['user-agent'] ?? '' }
      const { cookie, expiresAt } = await beginSession(user, client)
      return reply
        .setCookie(SESSION_COOKIE, cookie, {
          path: '/',
          httpOnly: true,
          sameSite: 'lax',
          secure: publicUrl().startsWith('https:'),
          expires: expiresAt
        })
        .redirect('/api/docs', 303)
    }
  )

  app.post('/users/sign_out', { config: open, schema: hide }, async (request, reply) => {
    const cookie = request.cookies[SESSION_COOKIE]
    if (cookie && sameOrigin(request)) await endSession(cookie)
    return reply.clearCookie(SESSION_COOKIE, { path: '/' }).redirect('/users/sign_in', 303)
  })
}

/** `problem` is text of ours: nothing of a user stands in the page. */
const page = (problem = '') => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sign in to Gitstead</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
  main { max-width: 20rem; margin: 15vh auto; padding: 0 1rem }
  label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit }
  input, button { margin: .25rem 0 1rem; padding: .5rem }
</style>
<main>
  <h1>Gitstead</h1>
  ${problem ? `<p role="alert">${problem}</p>` : ''}
  <form method="post" action="/users/sign_in">
    <label for="login">Username or email</label>
    <input id="login" name="login" autocomplete="username" required autofocus>
    <label for="password">Password</label>
    <input id="password" name="password" type="password" autocomplete="current-password" required>
    <button>Sign in</button>
  </form>
</main>
</html>
`
