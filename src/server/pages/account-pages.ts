// Shared by the pages for people who cannot sign in yet: sign-up, confirmation, a new password.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Forbidden } from '../../errors.js'
import { Type } from '../../lib/type.js'
import { isOwnOpenForm } from './open-form.js'
import { sendPage } from './page.js'
import { SIGN_IN, showProblem } from './page-routes.js'

/** The token of a signed link. */
export const Token = Type.String({ minLength: 1, maxLength: 2048 })

/** Options of the routes: they are open to everybody and accept a small form. */
export const open = { config: { public: true as const }, schema: { hide: true } }
export const openPost = { ...open, bodyLimit: 16_384 }

/** Shows failures of the routes of `app` as a page. Forms must come from one of our pages. */
export function prepareAccountPages(app: FastifyInstance): void {
  // The validation drops fields that a schema does not name, such as the token of a form.
  app.addHook('preValidation', async request => {
    if (request.method !== 'POST' || isOwnOpenForm(request)) return
    throw new Forbidden('Open the page again, and send the form from there')
  })
  app.setErrorHandler((error, request, reply) => showProblem(error, request, reply, SIGN_IN))
}

interface Said {
  readonly title: string
  readonly says: string
  /** A text from administrators, shown unchanged. */
  readonly text?: string | null
  readonly to?: string
  readonly link?: string
}

/** Sends a page that only shows a message. */
export const sayOnPage = (reply: FastifyReply, { to = SIGN_IN, link = 'Back', ...page }: Said): Promise<FastifyReply> =>
  sendPage(reply, 'message', { small: true, to, link, ...page })
