// The sign-in page, which is the only way to get a session cookie.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { applicationSettings } from '../../areas/ground/settings/settings.queries.js'
import { endSession } from '../../areas/people/credentials/credentials.js'
import { signInByPassword } from '../../areas/people/credentials/password-sign-in.js'
import { signInOptions } from '../../areas/people/factors/passkeys.js'
import { maySignUp } from '../../areas/reach/accounts/sign-ups.js'
import { config } from '../../config.js'
import { Forbidden, TooManyRequests, Unavailable } from '../../errors.js'
import { Type } from '../../lib/type.js'
import { providers } from '../../oidc/provider.js'
import { SESSION_COOKIE } from '../plugins/authenticate.js'
import { completeSignIn, localPath } from './complete-sign-in.js'
import { LARGEST_FORM } from './form-limit.js'
import { leaveProvider } from './identity/leave-provider.js'
import { isOwnOpenForm, knowBrowser, knownBrowser, shownForm } from './open-form.js'
import { sendPage } from './page.js'
import { messageOf, SIGN_IN, showProblem } from './page-routes.js'
import { formTokenOf, isOwnFormOrOrigin, visitorOf } from './visitor.js'

const SignInBody = Type.Object({
  login: Type.String({ maxLength: 255 }),
  password: Type.String({ maxLength: 1024 }),
  return_to: Type.Optional(Type.String({ maxLength: 8192 })),
  unsent: Type.Optional(Type.String()),
  authenticity_token: Type.Optional(Type.String({ maxLength: 255 }))
})

/** It takes an unsent form along as JSON, in which quotation marks are twice as long. */
const BODY_LIMIT = 2 * LARGEST_FORM

export const signInRoutes: FastifyPluginAsyncTypebox = async app => {
  const open = { public: true as const, duringMaintenance: true as const }
  const hide = { hide: true }
  app.setErrorHandler((error, request, reply) => showProblem(error, request, reply, SIGN_IN))

  app.get(SIGN_IN, { config: open, schema: hide }, async (request, reply) => {
    const { return_to: returnTo } = request.query as { return_to?: unknown }
    const browser = knowBrowser(request, reply)
    return show(reply, { formToken: formTokenOf(browser), browser, returnTo: localPath(returnTo) })
  })

  app.post(
    SIGN_IN,
    { config: open, bodyLimit: BODY_LIMIT, schema: { ...hide, body: SignInBody } },
    async (request, reply) => {
      const { login, password, return_to } = request.body
      const returnTo = localPath(return_to)
      const isOwn = isOwnOpenForm(request)
      // Another site must not put words into the form that its visitor is asked to send.
      const unsent = isOwn ? request.body.unsent : undefined
      const formToken = shownForm(request)
      const refuse = (status: number, problem: string) =>
        show(reply.code(status), { formToken, browser: knownBrowser(request), returnTo, login, problem, unsent })
      if (!isOwn) return refuse(403, 'Open this page and sign in there.')
      const { address } = request
      const signIn = await signInByPassword(login, password, { address, door: 'page' }).catch(asRefusal)
      if (signIn instanceof Forbidden) return refuse(403, `${signIn.reason}.`)
      if (signIn instanceof TooManyRequests || signIn instanceof Unavailable) {
        reply.header('retry-after', String(signIn.retryAfter))
        return signIn instanceof Unavailable ? refuse(503, `${signIn.message}.`) : refuse(429, messageOf(signIn))
      }
      if (!signIn) return refuse(401, 'The login or the password is wrong.')
      return completeSignIn(request, reply, signIn, { returnTo, unsent })
    }
  )

  app.post('/users/sign_out', { config: open, schema: hide }, async (request, reply) => {
    const visitor = await visitorOf(request)
    const isOwn = visitor && isOwnFormOrOrigin(request, visitor.cookie)
    const from = isOwn ? await endSession(visitor.cookie, visitor.origin) : null
    const { after_sign_out_path: path } = await applicationSettings()
    reply.clearCookie(SESSION_COOKIE, { path: '/' })
    return (await leaveProvider(reply, from)) ?? reply.redirect(path ?? SIGN_IN, 303)
  })
}

interface Shown {
  readonly formToken: string
  /** The browser to which the challenge for a passkey is bound; without it, the page offers none. */
  readonly browser?: string | undefined
  readonly returnTo: string | undefined
  /** A form that could not be accepted before (unsent.ts). */
  readonly unsent?: string | undefined
  /** What the user entered, so that only the password must be entered again. */
  readonly login?: string
  readonly problem?: string
}

async function show(
  reply: FastifyReply,
  { formToken, browser, returnTo, login, problem, unsent }: Shown
): Promise<FastifyReply> {
  const { sign_in_text: text } = await applicationSettings()
  const { passwords, ldap } = config().identity
  const { local } = passwords
  return sendPage(reply, 'sign-in', {
    title: 'Sign in to Gitstead',
    heading: 'Gitstead',
    small: true,
    problem,
    text,
    passkey: browser === undefined ? undefined : await signInOptions(browser),
    returnTo,
    login,
    unsent,
    local,
    // Otherwise only a few administrators need the form.
    passwords: local || Object.keys(ldap).length > 0,
    signUp: await maySignUp(),
    providers: waysOf(returnTo),
    formToken
  })
}

/** The buttons of the providers with which people can sign in. */
const waysOf = (returnTo: string | undefined) =>
  providers().map(({ name, label }) => ({
    label,
    href: `/users/auth/${name}${returnTo === undefined ? '' : `?${new URLSearchParams({ return_to: returnTo })}`}`
  }))

/** Shows the page after a sign-in in another way has failed. */
export function refuseSignIn(
  request: FastifyRequest,
  reply: FastifyReply,
  refused: { readonly problem: string; readonly returnTo?: string | undefined; readonly unsent?: string | undefined }
): Promise<FastifyReply> {
  const browser = knowBrowser(request, reply)
  return show(reply, { formToken: formTokenOf(browser), browser, returnTo: undefined, ...refused })
}

/** The sign-in page shows why a right password is refused, how long to wait after many wrong ones, and that a directory is away. */
function asRefusal(error: unknown): Forbidden | TooManyRequests | Unavailable {
  if (error instanceof Forbidden || error instanceof TooManyRequests || error instanceof Unavailable) return error
  throw error
}
