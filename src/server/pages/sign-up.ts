// The pages on which people make accounts for themselves.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { applicationSettings } from '../../areas/ground/settings/settings.queries.js'
import {
  confirmSignUp,
  maySignUp,
  needsApproval,
  SIGN_UP_HOURS,
  signUp,
  signUpOfLink
} from '../../areas/reach/accounts/sign-ups.js'
import { config } from '../../config.js'
import { Conflict, Forbidden, Invalid } from '../../errors.js'
import { Type } from '../../lib/type.js'
import { open, openPost, prepareAccountPages, sayOnPage, Token } from './account-pages.js'
import { openForm, shownForm } from './open-form.js'
import { sendPage } from './page.js'
import { SIGN_IN } from './page-routes.js'

const PATH = '/users/sign_up'
const CONFIRM = `${PATH}/confirm`

/** The rules for users check what is too long or missing, so that the form is shown again with the problem. */
const text = (maxLength: number) => Type.String({ maxLength, default: '' })
export const SignUpFields = { username: text(1024), name: text(1024), email: text(1024), password: text(1024) }
const SignUpBody = Type.Object(SignUpFields)
const ConfirmBody = Type.Object({ token: Token, password: text(1024) })

export type Filled = { readonly [Name in 'username' | 'name' | 'email']?: string }

export const signUpRoutes: FastifyPluginAsyncTypebox = async app => {
  prepareAccountPages(app as never)

  app.get(PATH, open, async (request, reply) => {
    if (!(await maySignUp())) throw new Forbidden('Signing up is switched off')
    return show(reply, openForm(request, reply))
  })

  app.post(PATH, { ...openPost, schema: { ...openPost.schema, body: SignUpBody } }, async (request, reply) => {
    const { username, name, email, password } = request.body
    try {
      await signUp({ username, name, email: email.trim(), password }, request.address)
    } catch (error) {
      if (!(error instanceof Invalid)) throw error
      return show(reply.code(400), shownForm(request), { username, name, email }, sentence(error))
    }
    const { after_sign_up_text: text } = await applicationSettings()
    return sayOnPage(reply, {
      title: 'Check your mail',
      says: `A mail is on its way to ${email.trim()}. Open the link in it within ${SIGN_UP_HOURS} hours to get your account.`,
      text
    })
  })

  const link = { ...open, schema: { ...open.schema, querystring: Type.Object({ token: Token }) } }
  app.get(CONFIRM, link, async (request, reply) => {
    const { username } = await signUpOfLink(request.query.token)
    return showConfirm(request, reply, { username, token: request.query.token, formToken: openForm(request, reply) })
  })

  app.post(CONFIRM, { ...openPost, schema: { ...openPost.schema, body: ConfirmBody } }, async (request, reply) => {
    const { token, password } = request.body
    const { username } = await signUpOfLink(token)
    const again = (status: number, problem: string) =>
      showConfirm(request, reply.code(status), { username, token, formToken: shownForm(request), problem })
    try {
      if (!(await confirmSignUp(token, password, request.address))) return again(401, 'The password is wrong.')
    } catch (error) {
      if (error instanceof Conflict) return again(409, `${error.message}. Sign up again.`)
      throw error
    }
    return sayOnPage(reply, {
      title: `Welcome, ${username}`,
      says: needsApproval()
        ? 'An administrator must approve your account. You will get a mail, and can then sign in.'
        : 'Your account is ready.',
      to: SIGN_IN,
      link: 'Sign in'
    })
  })
}

export const sentence = ({ errors }: Invalid) =>
  `${Object.entries(errors)
    .map(([name, texts]) => `${name.charAt(0).toUpperCase()}${name.slice(1)} ${texts.join(', ')}`)
    .join('. ')}.`

function show(reply: FastifyReply, formToken: string, filled: Filled = {}, problem?: string): Promise<FastifyReply> {
  return sendPage(reply, 'sign-up', {
    title: 'Sign up',
    small: true,
    minimum: config().identity.passwords.min_length,
    formToken,
    filled,
    problem
  })
}

function showConfirm(
  _request: FastifyRequest,
  reply: FastifyReply,
  page: { username: string; token: string; formToken: string; problem?: string }
): Promise<FastifyReply> {
  return sendPage(reply, 'sign-up-confirm', { title: 'Confirm your account', small: true, ...page })
}
