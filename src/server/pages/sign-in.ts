// The sign-in page, which is the only way to get a session cookie.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { applicationSettings } from '../../areas/ground/settings/settings.queries.js'
import { beginSession, endSession, userOfPassword } from '../../areas/people/credentials/credentials.js'
import { Forbidden, TooManyRequests } from '../../errors.js'
import { isLocalPath } from '../../lib/link.js'
import { Type } from '../../lib/type.js'
import { SESSION_COOKIE } from '../plugins/authenticate.js'
import { LARGEST_FORM } from './form-limit.js'
import { cookieOptions, isOwnOpenForm, openForm, shownForm } from './open-form.js'
import { sendPage } from './page.js'
import { messageOf, SIGN_IN, showProblem } from './page-routes.js'
import { parseUnsent } from './unsent.js'
import { formTokenOf, isOwnFormOrOrigin, visitorOf } from './visitor.js'

const SignInBody = Type.Object({
  login: Type.String({ maxLength: 255 }),
  password: Type.String({ maxLength: 1024 }),
  return_to: Type.Optional(Type.String({ maxLength: 8192 })),
  unsent: Type.Optional(Type.String()),
  authenticity_token: Type.Optional(Type.String({ maxLength: 255 }))
})

const SIGNED_IN = '/'

/** It takes an unsent form along as JSON, in which quotation marks are twice as long. */
const BODY_LIMIT = 2 * LARGEST_FORM

export const signInRoutes: FastifyPluginAsyncTypebox = async app => {
  const open = { public: true as const, duringMaintenance: true as const }
  const hide = { hide: true }
  app.setErrorHandler((error, request, reply) => showProblem(error, request, reply, SIGN_IN))

  app.get(SIGN_IN, { config: open, schema: hide }, async (request, reply) => {
    const { return_to: returnTo } = request.query as { return_to?: unknown }
    return show(reply, { formToken: openForm(request, reply), returnTo: localPath(returnTo) })
  })

  app.post(
    SIGN_IN,
    { config: open, bodyLimit: BODY_LIMIT, schema: { ...hide, body: SignInBody } },
    async (request, reply) => {
      const { login, password, return_to, unsent } = request.body
      const returnTo = localPath(return_to)
      const formToken = shownForm(request)
      const refuse = (status: number, problem: string) =>
        show(reply.code(status), { formToken, returnTo, login, problem, unsent })
      if (!isOwnOpenForm(request)) return refuse(403, 'Open this page and sign in there.')
      const user = await userOfPassword(login, password, request.address).catch(asRefusal)
      if (user instanceof Forbidden) return refuse(403, `${user.reason}.`)
      if (user instanceof TooManyRequests) {
        reply.header('retry-after', String(user.retryAfter))
        return refuse(429, messageOf(user))
      }
      if (!user) return refuse(401, 'The login or the password is wrong.')
      const { cookie, expiresAt } = await beginSession(user, browserOf(request))
      reply.setCookie(SESSION_COOKIE, cookie, { ...cookieOptions(), expires: expiresAt })
      const kept = parseUnsent(unsent)
      if (!kept) return reply.redirect(returnTo ?? SIGNED_IN, 303)
      const page = { title: 'Send this again?', unsent: kept, visitor: user, formToken: formTokenOf(cookie) }
      return sendPage(reply, 'unsent', page)
    }
  )

  app.post('/users/sign_out', { config: open, schema: hide }, async (request, reply) => {
    const visitor = await visitorOf(request)
    if (visitor && isOwnFormOrOrigin(request, visitor.cookie)) await endSession(visitor.cookie, visitor.origin)
    const { after_sign_out_path: path } = await applicationSettings()
    return reply.clearCookie(SESSION_COOKIE, { path: '/' }).redirect(path ?? SIGN_IN, 303)
  })
}

const browserOf = ({ address, headers }: FastifyRequest) => ({ address, userAgent: headers['user-agent'] ?? '' })

/** The path to open after signing in: never another site, no matter who wrote the link. */
const localPath = (text: unknown): string | undefined =>
  typeof text === 'string' && isLocalPath(text) ? text : undefined

interface Shown {
  readonly formToken: string
  readonly returnTo: string | undefined
  /** A form that could not be accepted before (unsent.ts). */
  readonly unsent?: string | undefined
  /** What the user entered, so that only the password must be entered again. */
  readonly login?: string
  readonly problem?: string
}

async function show(
  reply: FastifyReply,
  { formToken, returnTo, login, problem, unsent }: Shown
): Promise<FastifyReply> {
  const { sign_in_text: text, signup_enabled: signUp } = await applicationSettings()
  return sendPage(reply, 'sign-in', {
    title: 'Sign in to Gitstead',
    heading: 'Gitstead',
    small: true,
    problem,
    text,
    returnTo,
    login,
    unsent,
    signUp,
    formToken
  })
}

/** The sign-in page shows why a right password is refused, and how long to wait after many wrong ones. */
function asRefusal(error: unknown): Forbidden | TooManyRequests {
  if (error instanceof Forbidden || error instanceof TooManyRequests) return error
  throw error
}
