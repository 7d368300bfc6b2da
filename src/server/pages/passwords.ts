// The pages for people who have forgotten their password, or whose address is not confirmed. The link comes by mail: the
// answer is the same for every address, and takes the same time.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { confirmAddress, confirmationOfLink } from '../../areas/reach/accounts/confirmations.js'
import { askForMail } from '../../areas/reach/accounts/link-requests.js'
import { RESET_HOURS, resetOfLink, resetPassword } from '../../areas/reach/accounts/passwords.js'
import { config } from '../../config.js'
import { Invalid } from '../../errors.js'
import { Type } from '../../lib/type.js'
import { open, openPost, prepareAccountPages, sayOnPage, Token } from './account-pages.js'
import { openForm, shownForm } from './open-form.js'
import { sendPage } from './page.js'
import { SIGN_IN } from './page-routes.js'

const NEW_PASSWORD = '/users/password/new'
const PASSWORD = '/users/password/edit'
const NEW_CONFIRMATION = '/users/confirmation/new'
const CONFIRMATION = '/users/confirmation'

const Query = Type.Object({ token: Token })
const AskBody = Type.Object({ email: Type.String({ maxLength: 1024, default: '' }) })
const ConfirmBody = Type.Object({ token: Token })
const PasswordBody = Type.Object({ token: Token, password: Type.String({ maxLength: 1024, default: '' }) })

interface Asking {
  readonly path: string
  readonly what: 'password' | 'confirmation'
  readonly title: string
  readonly says: string
  readonly answer: string
}

const ASKINGS: readonly Asking[] = [
  {
    path: NEW_PASSWORD,
    what: 'password',
    title: 'Forgot your password?',
    says: 'Enter the email address of your account. We will send a mail with a link to set a new password.',
    answer: `If an account has this address, a mail is on its way. Its link works for ${RESET_HOURS} hours.`
  },
  {
    path: NEW_CONFIRMATION,
    what: 'confirmation',
    title: 'No mail to confirm your address?',
    says: 'Enter the address that you want to confirm. We will send another mail with a link.',
    answer: 'If this address is not confirmed yet, a mail is on its way.'
  }
]

export const passwordRoutes: FastifyPluginAsyncTypebox = async app => {
  prepareAccountPages(app as never)
  for (const asking of ASKINGS) asks(app as never, asking)
  const link = { ...open, schema: { ...open.schema, querystring: Query } }

  app.get(PASSWORD, link, async (request, reply) => {
    const { token } = request.query
    const { username } = await resetOfLink(token)
    return showPassword(reply, { token, username, formToken: openForm(request, reply) })
  })

  app.post(PASSWORD, { ...openPost, schema: { ...openPost.schema, body: PasswordBody } }, async (request, reply) => {
    const { token, password } = request.body
    const { username } = await resetOfLink(token)
    try {
      await resetPassword(token, password, request.address)
    } catch (error) {
      if (!(error instanceof Invalid)) throw error
      const problem = `The ${error.message}.`
      return showPassword(reply.code(400), { token, username, formToken: shownForm(request), problem })
    }
    return sayOnPage(reply, {
      title: 'Your password is changed',
      says: 'All sessions of your account have ended.',
      to: SIGN_IN,
      link: 'Sign in'
    })
  })

  // Programs that scan mail open links: only the form confirms.
  app.get(CONFIRMATION, link, async (request, reply) => {
    const { token } = request.query
    const { address, username } = await confirmationOfLink(token)
    const formToken = openForm(request, reply)
    return sendPage(reply, 'confirmation', {
      title: 'Confirm your address',
      small: true,
      address,
      username,
      token,
      formToken
    })
  })

  app.post(CONFIRMATION, { ...openPost, schema: { ...openPost.schema, body: ConfirmBody } }, async (request, reply) => {
    const { address, username } = await confirmAddress(request.body.token, request.address)
    return sayOnPage(reply, {
      title: 'Your address is confirmed',
      says: `${address} belongs to the account ${username}.`,
      to: SIGN_IN,
      link: 'Sign in'
    })
  })
}

function asks(app: FastifyInstance, { path, what, title, says, answer }: Asking): void {
  const show = (reply: FastifyReply, formToken: string, email: string, problem?: string) =>
    sendPage(reply, 'ask-mail', { title, small: true, says, path, email, formToken, problem })

  app.get(path, open, async (request, reply) => show(reply, openForm(request, reply), ''))

  app.post<{ Body: { email: string } }>(
    path,
    { ...openPost, schema: { ...openPost.schema, body: AskBody } },
    async (request, reply) => {
      const email = request.body.email.trim()
      const asked = await askForMail(what, email, request.address)
      if (!asked) return show(reply.code(400), shownForm(request), email, 'This is not an email address.')
      return sayOnPage(reply, { title: 'Check your mail', says: answer })
    }
  )
}

const showPassword = (
  reply: FastifyReply,
  page: { token: string; username: string; formToken: string; problem?: string }
): Promise<FastifyReply> =>
  sendPage(reply, 'new-password', {
    title: 'A new password',
    small: true,
    minimum: config().identity.passwords.min_length,
    ...page
  })
