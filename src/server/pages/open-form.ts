// Forms of pages for people who are not signed in. A separate cookie ties each form to the browser.
import { randomBytes } from 'node:crypto'
import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { publicUrl } from '../../config.js'
import { formTokenOf, isOwnFormOrOrigin } from './visitor.js'

const FORM_COOKIE = '_service_form'

/** Ties the forms of a page to the browser. Returns the token for them. */
export const openForm = (request: FastifyRequest, reply: FastifyReply): string =>
  formTokenOf(knowBrowser(request, reply))

/** Gives the browser a cookie by which it is known until it closes. Returns its value. */
export function knowBrowser(request: FastifyRequest, reply: FastifyReply): string {
  const form = knownBrowser(request) ?? randomBytes(24).toString('base64url')
  reply.setCookie(FORM_COOKIE, form, cookieOptions())
  return form
}

/** The value of that cookie; undefined when the browser has kept none. */
export const knownBrowser = ({ cookies }: FastifyRequest): string | undefined => cookies[FORM_COOKIE]

/** The token for a form that is shown again; empty when the browser has kept no cookie. */
export function shownForm(request: FastifyRequest): string {
  const form = knownBrowser(request)
  return form === undefined ? '' : formTokenOf(form)
}

/** Returns true when a form comes from one of our pages. */
export const isOwnOpenForm = (request: FastifyRequest): boolean =>
  isOwnFormOrOrigin(request, request.cookies[FORM_COOKIE])

export const cookieOptions = (): CookieSerializeOptions => ({
  path: '/',
  httpOnly: true,
  sameSite: 'lax',
  secure: publicUrl().startsWith('https:')
})
