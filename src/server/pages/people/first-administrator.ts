// The page on which the operator makes the first administrator, with the link that `gitstead up` shows on a terminal.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { makeFirstAdministrator, requireFirstLink } from '../../../areas/reach/accounts/first-administrator.js'
import { config } from '../../../config.js'
import { Conflict, Invalid } from '../../../errors.js'
import { Type } from '../../../lib/type.js'
import { open, openPost, prepareAccountPages, sayOnPage, Token } from '../account-pages.js'
import { openForm, shownForm } from '../open-form.js'
import { sendPage } from '../page.js'
import { SIGN_IN } from '../page-routes.js'
import { type Filled, SignUpFields, sentence } from '../sign-up.js'

const PATH = '/users/first_administrator'
const Body = Type.Object({ token: Token, ...SignUpFields })

export const firstAdministratorRoutes: FastifyPluginAsyncTypebox = async app => {
  prepareAccountPages(app as never)

  const link = { ...open, schema: { ...open.schema, querystring: Type.Object({ token: Token }) } }
  app.get(PATH, link, async (request, reply) => {
    const { token } = request.query
    await requireFirstLink(token)
    return show(reply, { token, formToken: openForm(request, reply), filled: {} })
  })

  app.post(PATH, { ...openPost, schema: { ...openPost.schema, body: Body } }, async (request, reply) => {
    const { token, username, name, email, password } = request.body
    try {
      await makeFirstAdministrator(token, { username, name, email: email.trim(), password }, request.address)
    } catch (error) {
      if (!(error instanceof Invalid || error instanceof Conflict)) throw error
      const problem = error instanceof Invalid ? sentence(error) : `${error.message}.`
      return show(reply.code(400), { token, formToken: shownForm(request), filled: { username, name, email }, problem })
    }
    return sayOnPage(reply, {
      title: `Welcome, ${username}`,
      says: 'You are the administrator of this appliance.',
      to: SIGN_IN,
      link: 'Sign in'
    })
  })
}

const show = (
  reply: FastifyReply,
  page: { token: string; formToken: string; filled: Filled; problem?: string }
): Promise<FastifyReply> =>
  sendPage(reply, 'first-administrator', {
    title: 'The first administrator',
    small: true,
    minimum: config().identity.passwords.min_length,
    ...page
  })
