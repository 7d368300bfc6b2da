// Finds the user who views a page, by the session cookie, and checks whether a form comes from one of our pages.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type {} from '@fastify/cookie'
import type { FastifyRequest } from 'fastify'
import { type ActorUser, isFactorOverdue, type Origin, originOf } from '../../access/actor.js'
import { actorOfSession } from '../../areas/people/credentials/credentials.js'
import { SESSION_COOKIE } from '../plugins/authenticate.js'
import { sameOrigin } from './same-origin.js'

export interface Visitor {
  readonly user: ActorUser
  readonly cookie: string
  readonly formToken: string
  readonly origin: Origin
  /** True when the visitor must set up a second factor before anything else. */
  readonly factorOverdue: boolean
}

/** The visitor of a request; null when nobody is signed in, or the session has ended. */
export async function visitorOf(request: FastifyRequest): Promise<Visitor | null> {
  const cookie = request.cookies[SESSION_COOKIE]
  const actor = cookie ? await actorOfSession(cookie) : null
  if (!cookie || !actor?.user) return null
  return {
    user: actor.user,
    cookie,
    formToken: formTokenOf(cookie),
    origin: originOf(actor, request.address),
    factorOverdue: isFactorOverdue(actor)
  }
}

const TOKEN_BYTES = 32

/** The secret behind the tokens of a browser. It is derived from its cookie, which cannot be derived from it. */
const secretOf = (cookie: string): Buffer => createHash('sha256').update(`form ${cookie}`).digest()

const xor = (one: Buffer, other: Buffer): Buffer => Buffer.from(one.map((byte, at) => byte ^ (other[at] ?? 0)))

/**
 * Returns a token for the forms of one page. It differs each time, so that compressed pages do not reveal it by their size, and so
 * that a form is recognised when it is sent twice.
 */
export function formTokenOf(cookie: string): string {
  const mask = randomBytes(TOKEN_BYTES)
  return Buffer.concat([mask, xor(mask, secretOf(cookie))]).toString('base64url')
}

/** Returns true when a form has a token of this cookie, and the browser does not say that another site sends it. */
export function isOwnForm(request: FastifyRequest, cookie: string | undefined): boolean {
  const site = request.headers['sec-fetch-site']
  if (!cookie || (site !== undefined && site !== 'same-origin')) return false
  const { authenticity_token: given } = (request.body ?? {}) as { authenticity_token?: unknown }
  if (typeof given !== 'string') return false
  const bytes = Buffer.from(given, 'base64url')
  if (bytes.length !== 2 * TOKEN_BYTES) return false
  return timingSafeEqual(xor(bytes.subarray(0, TOKEN_BYTES), bytes.subarray(TOKEN_BYTES)), secretOf(cookie))
}

/**
 * Identifies a form of a page with what was entered in it. The same page sends different comments, but never the same one twice on
 * purpose: it is shown again after each.
 */
export function formIdOf({ url, body }: FastifyRequest): Buffer {
  return createHash('sha256')
    .update(`${url}\0${JSON.stringify(body)}`)
    .digest()
}

/** Signing in and out also accepts the headers of the browser as proof, for clients that show no page. */
export const isOwnFormOrOrigin = (request: FastifyRequest, cookie: string | undefined): boolean =>
  isOwnForm(request, cookie) || sameOrigin(request)
