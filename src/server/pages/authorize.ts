// The consent page: an application asks a user for access ("Tokens, scopes, OAuth").
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import {
  type Authorization,
  approve,
  deny,
  RefusalToApplication,
  readAuthorization
} from '../../areas/people/credentials/oauth/authorization.js'
import { readParameters } from '../../areas/people/credentials/oauth/provider.js'
import { Forbidden } from '../../errors.js'
import { WORDS } from './account/scope-choice.js'
import { sendPage, sourceOf } from './page.js'
import { SET_UP, showProblem, signInFor } from './page-routes.js'
import { isOwnForm, visitorOf } from './visitor.js'

/** The parameters that the form sends again. */
const FIELDS = [
  'client_id',
  'redirect_uri',
  'response_type',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method'
] as const

const PATH = '/oauth/authorize'
const page = { config: { public: true as const }, schema: { hide: true } }

export const authorizeRoutes: FastifyPluginAsync = async app => {
  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof RefusalToApplication)) return showProblem(error, request, reply)
    return reply.redirect(error.location)
  })

  // The request is checked first: a wrong one is refused before anybody enters a password for it.
  app.get(PATH, page, async (request, reply) => {
    const parameters = readParameters(request.query)
    const asked = await readAuthorization(parameters, request.address)
    const visitor = await visitorOf(request)
    if (!visitor) return reply.redirect(signInFor(request))
    if (visitor.factorOverdue) return reply.redirect(SET_UP)
    const fields = FIELDS.flatMap(name => (parameters[name] === undefined ? [] : [[name, parameters[name]]]))
    return sendPage(
      reply,
      'consent',
      {
        visitor: visitor.user,
        formToken: visitor.formToken,
        title: `Let ${asked.application.name} use your account?`,
        application: asked.application.name,
        owner: ownerOf(asked),
        asks: asked.scopes.map(scope => WORDS[scope as keyof typeof WORDS]),
        target: asked.redirectUri,
        fields: [['authenticity_token', visitor.formToken], ...fields]
      },
      sourceOf(asked.redirectUri)
    )
  })

  // An HTML form cannot send DELETE.
  app.post(PATH, page, async (request, reply) => answer(request, reply, isDenial(request.body)))
  app.delete(PATH, page, async (request, reply) => answer(request, reply, true))
}

const isDenial = (body: unknown) => String((body as { _method?: unknown } | null)?._method).toLowerCase() === 'delete'

async function answer(request: FastifyRequest, reply: FastifyReply, denied: boolean): Promise<FastifyReply> {
  const visitor = await visitorOf(request)
  if (!visitor) return reply.redirect(signInFor(request), 303)
  if (visitor.factorOverdue) return reply.redirect(SET_UP, 303)
  if (!isOwnForm(request, visitor.cookie)) throw new Forbidden('Open the page again, and answer there')
  const parameters = readParameters({ ...(request.query as object), ...(request.body as object) })
  const asked = await readAuthorization(parameters, request.address)
  return reply.redirect(denied ? deny(asked) : await approve(asked, visitor.user, visitor.origin), 303)
}

const ownerOf = ({ application: { username } }: Authorization) =>
  username === null ? 'registered by an administrator' : `registered by ${username}`
