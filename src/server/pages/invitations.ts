// The page that a link in an invitation opens: a signed-in person accepts it, others sign in or sign up.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  acceptInvitation,
  type Invitation,
  invitationOfLink,
  mayAccept,
  mayInvitedSignUp,
  signUpInvited
} from '../../areas/reach/accounts/invitations/invitations.js'
import { needsApproval } from '../../areas/reach/accounts/sign-ups.js'
import { config } from '../../config.js'
import { Conflict, Invalid, Unauthorized } from '../../errors.js'
import { levelName } from '../../lib/levels.js'
import { Type } from '../../lib/type.js'
import { open, openPost, prepareAccountPages, sayOnPage, Token } from './account-pages.js'
import { path } from './components.js'
import { openForm, shownForm } from './open-form.js'
import { sendPage } from './page.js'
import { SET_UP, SIGN_IN } from './page-routes.js'
import { visitorOf } from './visitor.js'

const PATH = '/invitations'

const text = (maxLength: number) => Type.String({ maxLength, default: '' })
const AcceptBody = Type.Object({ token: Token })
const SignUpBody = Type.Object({ token: Token, username: text(1024), name: text(1024), password: text(1024) })

interface Shown {
  readonly formToken: string
  readonly filled?: { readonly username: string; readonly name: string }
  readonly problem?: string
}

export const invitationRoutes: FastifyPluginAsyncTypebox = async app => {
  prepareAccountPages(app as never)

  // Programs that scan mail open links: only the forms accept.
  app.get(PATH, { ...open, schema: { ...open.schema, querystring: Type.Object({ token: Token }) } }, (request, reply) =>
    show(request, reply, request.query.token, { formToken: openForm(request, reply) })
  )

  app.post(PATH, { ...openPost, schema: { ...openPost.schema, body: AcceptBody } }, async (request, reply) => {
    const visitor = await visitorOf(request)
    if (!visitor) throw new Unauthorized()
    if (visitor.factorOverdue) return reply.redirect(SET_UP, 303)
    const { source } = await acceptInvitation(request.body.token, visitor.user, visitor.origin)
    return reply.redirect(pathOf(source), 303)
  })

  app.post(
    `${PATH}/sign_up`,
    { ...openPost, schema: { ...openPost.schema, body: SignUpBody } },
    async (request, reply) => {
      const { token, ...person } = request.body
      const again = (status: number, problem: string) => {
        const { username, name } = person
        return show(request, reply.code(status), token, {
          formToken: shownForm(request),
          filled: { username, name },
          problem
        })
      }
      try {
        const { source } = await signUpInvited(token, person, request.address)
        return sayOnPage(reply, {
          title: `Welcome, ${person.username}`,
          says: needsApproval()
            ? 'An administrator must approve your account. You will get a mail, and can then sign in.'
            : 'Your account is ready.',
          to: `${SIGN_IN}?return_to=${encodeURIComponent(pathOf(source))}`,
          link: 'Sign in'
        })
      } catch (error) {
        if (error instanceof Invalid) return again(400, `${error.message}.`)
        if (error instanceof Conflict) return again(409, `${error.message}.`)
        throw error
      }
    }
  )
}

async function show(request: FastifyRequest, reply: FastifyReply, token: string, shown: Shown): Promise<FastifyReply> {
  const [invitation, visitor] = await Promise.all([invitationOfLink(token), visitorOf(request)])
  const { row, source } = invitation
  const { access_level: level, expires_at: until, address, by_name: by } = row
  return sendPage(reply, 'invitation', {
    title: 'Invitation',
    small: true,
    of: source.type === 'project' ? 'project' : 'group',
    name: source.path,
    level: levelName(level),
    until,
    by: by ?? 'An administrator',
    address,
    token,
    username: visitor?.user.username,
    accepts: visitor !== null && (await mayAccept(visitor.user, invitation)),
    signUp: visitor === null && (await mayInvitedSignUp()),
    minimum: config().identity.passwords.min_length,
    signIn: `${SIGN_IN}?return_to=${encodeURIComponent(`${PATH}?token=${token}`)}`,
    ...shown
  })
}

const pathOf = ({ type, path: full }: Invitation['source']): string =>
  type === 'project' ? path(...full.split('/')) : path('groups', full)
