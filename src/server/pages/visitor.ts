// Finds the user who views a page, by the session cookie, and checks whether a form comes from one of our pages.
import { createHash, timingSafeEqual } from 'node:crypto'
import type {} from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type ActorUser, type Origin, originOf } from '../../access/actor.js'
import { actorOfSession } from '../../areas/people/credentials/credentials.js'
import { Failure, Forbidden, TooManyRequests } from '../../errors.js'
import { SESSION_COOKIE } from '../plugins/authenticate.js'
import { answerTo } from '../plugins/errors.js'
import { sendPage } from './page.js'
import { sameOrigin } from './same-origin.js'

export interface Visitor {
  readonly user: ActorUser
  readonly cookie: string
  readonly formToken: string
  readonly origin: Origin
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The signed-in user, on pages that require one. */
    visitor: Visitor
  }
}

export const SIGN_IN = '/users/sign_in'

/** The visitor of a request; null when nobody is signed in, or the session has ended. */
export async function visitorOf(request: FastifyRequest): Promise<Visitor | null> {
  const cookie = request.cookies[SESSION_COOKIE]
  const actor = cookie ? await actorOfSession(cookie) : null
  if (!cookie || !actor?.user) return null
  return { user: actor.user, cookie, formToken: formTokenOf(cookie), origin: originOf(actor, request.address) }
}

/** The token in the forms of a browser, derived from its cookie: the cookie cannot be derived from the token. */
export const formTokenOf = (cookie: string): string => createHash('sha256').update(`form ${cookie}`).digest('base64url')

/** Returns true when a form has the token of this cookie, and the browser does not say that another site sends it. */
export function isOwnForm(request: FastifyRequest, cookie: string | undefined): boolean {
  const site = request.headers['sec-fetch-site']
  if (!cookie || (site !== undefined && site !== 'same-origin')) return false
  const { authenticity_token: given } = (request.body ?? {}) as { authenticity_token?: unknown }
  if (typeof given !== 'string') return false
  const [shown, wanted] = [Buffer.from(given), Buffer.from(formTokenOf(cookie))]
  return shown.length === wanted.length && timingSafeEqual(shown, wanted)
}

/** Signing in and out also accepts the headers of the browser as proof, for clients that show no page. */
export const isOwnFormOrOrigin = (request: FastifyRequest, cookie: string | undefined): boolean =>
  isOwnForm(request, cookie) || sameOrigin(request)

/**
 * Requires a signed-in user for the pages of `app`: others are sent to the sign-in page. Forms must come from one of our
 * pages. Failures are shown as a page.
 */
export function requireVisitors(app: FastifyInstance): void {
  app.decorateRequest('visitor', null as never)
  app.addHook('onRequest', async (request, reply) => {
    const found = await visitorOf(request)
    if (!found) return reply.redirect(signInFor(request), reads(request) ? 302 : 303)
    request.visitor = found
    return undefined
  })
  app.addHook('preValidation', async request => {
    dropEmptyFields(request)
    if (reads(request) || isOwnForm(request, request.visitor.cookie)) return
    throw new Forbidden('Open the page again, and send the form from there')
  })
  app.setErrorHandler((error, request, reply) => showProblem(error, request, reply))
}

/** The sign-in page, with the path to return to. */
export const signInFor = (request: FastifyRequest): string =>
  reads(request) ? `${SIGN_IN}?${new URLSearchParams({ return_to: request.url })}` : SIGN_IN

const reads = ({ method }: FastifyRequest) => method === 'GET' || method === 'HEAD'

/** Removes fields that the user left empty, so that they count as not given. */
function dropEmptyFields(request: FastifyRequest): void {
  if (typeof request.body !== 'object' || request.body === null) return
  request.body = Object.fromEntries(Object.entries(request.body).filter(([, value]) => value !== ''))
}

/** Shows a failure as a page, with a link back to `back`. */
export async function showProblem(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  back = '/profile'
): Promise<FastifyReply> {
  const { status, retryAfter } = answerTo(error, request)
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  const text = error instanceof Forbidden && error.reason ? error.reason : messageOf(error)
  const { visitor } = request as { visitor?: Visitor }
  return sendPage(reply.code(status), 'problem', {
    title: 'This did not work',
    problem: text,
    back,
    visitor: visitor?.user,
    formToken: visitor?.formToken
  })
}

/** Returns the words for people about a failure. */
export function messageOf(error: unknown): string {
  if (error instanceof TooManyRequests) return `Too many attempts: try again in ${waitOf(error.retryAfter)}.`
  return error instanceof Failure ? error.message : 'Something went wrong: try again later'
}

const waitOf = (seconds: number): string =>
  seconds > 90 ? `${Math.ceil(seconds / 60)} minutes` : seconds > 1 ? `${seconds} seconds` : 'a second'
