// The end of every sign-in in a browser: the session, its cookie, and the page that the person wanted.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Browser, beginSession, type SignIn } from '../../areas/people/credentials/credentials.js'
import { factorsOf } from '../../areas/people/factors/factors.js'
import { havePasskeys, requestOptions } from '../../areas/people/factors/passkeys.js'
import { type PendingSignIn, pendingSignIn } from '../../areas/people/factors/pending-sign-in.js'
import { isLocalPath } from '../../lib/link.js'
import { SESSION_COOKIE } from '../plugins/authenticate.js'
import { type Sealed, seal } from './identity/sealed-cookie.js'
import { cookieOptions, openForm } from './open-form.js'
import { sendPage } from './page.js'
import { parseUnsent } from './unsent.js'
import { formTokenOf } from './visitor.js'

const SIGNED_IN = '/'

export interface Afterwards {
  /** The path to open. */
  readonly returnTo: string | undefined
  /** A form that could not be accepted before, as JSON (unsent.ts). */
  readonly unsent?: string | undefined
}

/** The path of the second step of a sign-in. */
export const SECOND_STEP = '/users/sign_in/two_factor'
/** Keeps a sign-in that needs its second factor. */
export const PENDING: Sealed<PendingSignIn> = { name: '_service_sign_in', minutes: 10 }

/** Signs a browser in, or first asks for the second factor if the person has one. */
export async function completeSignIn(
  request: FastifyRequest,
  reply: FastifyReply,
  signIn: SignIn,
  afterwards: Afterwards
): Promise<FastifyReply> {
  const pending = await pendingSignIn(signIn)
  if (pending === null) return finishSignIn(request, reply, signIn, afterwards)
  seal(reply, PENDING, pending)
  const { returnTo, unsent } = afterwards
  if (unsent !== undefined) return showSecondStep(request, reply, { signIn, pending, ...afterwards })
  const query = returnTo === undefined ? '' : `?${new URLSearchParams({ return_to: returnTo })}`
  return reply.redirect(SECOND_STEP + query, 303)
}

interface Step extends Afterwards {
  readonly signIn: SignIn
  readonly pending: PendingSignIn
  readonly problem?: string
}

/** Asks for the second factor. */
export async function showSecondStep(
  request: FastifyRequest,
  reply: FastifyReply,
  { signIn: { user }, pending, ...shown }: Step
): Promise<FastifyReply> {
  const { app, passkeys } = await factorsOf(user.id)
  return sendPage(reply, 'second-step', {
    title: 'Your second factor',
    small: true,
    username: user.username,
    app: app !== null,
    passkey:
      passkeys > 0 && havePasskeys() ? await requestOptions('passkey.second_step', pending.id, user.id) : undefined,
    formToken: openForm(request, reply),
    ...shown
  })
}

/** Gives a browser a new session, and opens the page that the person wanted or the form that was not accepted. */
export async function finishSignIn(
  request: FastifyRequest,
  reply: FastifyReply,
  signIn: SignIn,
  { returnTo, unsent }: Afterwards
): Promise<FastifyReply> {
  const cookie = await giveSession(request, reply, signIn)
  const kept = parseUnsent(unsent)
  if (!kept) return reply.redirect(returnTo ?? SIGNED_IN, 303)
  const page = { title: 'Send this again?', unsent: kept, visitor: signIn.user, formToken: formTokenOf(cookie) }
  return sendPage(reply, 'unsent', page)
}

/** Begins a session in the browser of a request. Returns the value of its cookie. */
async function giveSession(request: FastifyRequest, reply: FastifyReply, signIn: SignIn): Promise<string> {
  const { cookie, expiresAt } = await beginSession(signIn, browserOf(request))
  reply.setCookie(SESSION_COOKIE, cookie, { ...cookieOptions(), expires: expiresAt })
  return cookie
}

const browserOf = ({ address, headers }: FastifyRequest): Browser => ({
  address,
  userAgent: headers['user-agent'] ?? ''
})

/** The path to open after signing in: never another site, no matter who wrote the link. */
export const localPath = (text: unknown): string | undefined =>
  typeof text === 'string' && isLocalPath(text) ? text : undefined
