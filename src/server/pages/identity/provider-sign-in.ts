// Signing in with a provider of OpenID Connect: the way there, the way back, and the provider's word that a session is over.
import { createHash } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { countSignIn } from '../../../areas/ground/audit/sign-in-counts.js'
import { acceptForm } from '../../../areas/ground/forms/sent-forms.js'
import { countWrongToken } from '../../../areas/people/credentials/login-throttle.js'
import { admit } from '../../../areas/people/identity/admission.js'
import { linkIdentity } from '../../../areas/people/identity/links.js'
import { endByProvider } from '../../../areas/people/identity/provider-logout.js'
import { Conflict, Forbidden } from '../../../errors.js'
import { Type } from '../../../lib/type.js'
import { log } from '../../../log.js'
import { ProviderAway, ProviderRefusal } from '../../../oidc/failures.js'
import { type Answer, beginFlow, endFlow } from '../../../oidc/flow.js'
import { type Provider, requireProvider } from '../../../oidc/provider.js'
import { completeSignIn, localPath } from '../complete-sign-in.js'
import { SIGN_IN, showProblem } from '../page-routes.js'
import { refuseSignIn } from '../sign-in.js'
import { visitorOf } from '../visitor.js'
import { INTENT, type Intent, UNLINKED } from './intents.js'
import { seal, unseal, unset } from './sealed-cookie.js'

export const IDENTITIES = '/profile/identities'

const PATH = '/users/auth/:provider'
const Params = Type.Object({ provider: Type.String({ maxLength: 64 }) })
const LogoutBody = Type.Object({ logout_token: Type.String({ maxLength: 16_384 }) })

const AGAIN = 'Your sign-in took too long, or began in another browser. Start again.'

export const providerSignIn: FastifyPluginAsyncTypebox = async app => {
  const open = {
    config: { public: true as const, duringMaintenance: true as const },
    schema: { hide: true, params: Params }
  }
  app.setErrorHandler((error, request, reply) => showProblem(error, request, reply, SIGN_IN))

  app.get(PATH, open, async (request, reply) => {
    const provider = requireProvider(request.params.provider)
    const { return_to: returnTo } = request.query as { return_to?: unknown }
    if (isForeign(request)) {
      // A page elsewhere must not sign its readers in: they choose that here. Browsers do not tell it over http.
      const query = new URLSearchParams({ return_to: localPath(returnTo) ?? '/' })
      return reply.redirect(`${SIGN_IN}?${query}`, 303)
    }
    try {
      return reply.redirect(await wayTo(provider, reply, { returnTo: localPath(returnTo) }), 303)
    } catch (error) {
      return refuse(error, request, reply, { provider, returnTo: localPath(returnTo) })
    }
  })

  app.get(`${PATH}/callback`, open, async (request, reply) => {
    const provider = requireProvider(request.params.provider)
    const intent = unseal(request, INTENT)
    unset(reply, INTENT)
    reply.header('cache-control', 'no-store')
    const isOurs = intent?.provider === provider.name && (await acceptForm(idOf(intent)))
    if (!isOurs) return refuseSignIn(request, reply.code(400), { problem: AGAIN })
    try {
      const answer = await endFlow(provider, queryOf(request), intent.secrets)
      return await (intent.connect === undefined
        ? signIn(request, reply, { provider, intent, answer })
        : connect(request, reply, { provider, intent, answer }))
    } catch (error) {
      if (intent.connect !== undefined && !(error instanceof ProviderAway)) return fail(error, request, reply, provider)
      return refuse(error, request, reply, { provider, returnTo: intent.returnTo })
    }
  })

  app.post(
    `${PATH}/backchannel_logout`,
    { ...open, bodyLimit: 32_768, schema: { ...open.schema, body: LogoutBody } },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      try {
        await endByProvider(request.params.provider, request.body.logout_token, request.address)
      } catch (error) {
        if (!(error instanceof ProviderRefusal || error instanceof ProviderAway)) throw error
        note(error, request.params.provider)
        if (error instanceof ProviderRefusal) countWrongToken(request.address)
        return reply.code(400).send({ error: 'invalid_request', error_description: error.message })
      }
      return reply.code(200).send()
    }
  )
}

const isForeign = ({ headers }: FastifyRequest): boolean =>
  headers['sec-fetch-site'] === 'cross-site' || headers['sec-fetch-site'] === 'same-site'

/** Returns where to send the browser, and makes it remember what it is for. */
export async function wayTo(
  provider: Provider,
  reply: FastifyReply,
  wish: Pick<Intent, 'returnTo' | 'connect'>
): Promise<string> {
  const { url, secrets } = await beginFlow(provider)
  const intent = { provider: provider.name, secrets, ...wish }
  // A very long path does not fit: the home page opens then.
  if (!seal(reply, INTENT, intent)) seal(reply, INTENT, { ...intent, returnTo: undefined })
  return url
}

interface Returned {
  readonly provider: Provider
  readonly intent: Intent
  readonly answer: Answer
}

async function signIn(request: FastifyRequest, reply: FastifyReply, { provider, intent, answer }: Returned) {
  const admission = await admit(provider, answer, request.address)
  countSignIn('oidc', 'user' in admission ? 'ok' : 'refused')
  if ('user' in admission) {
    const { session } = answer
    const proof = {
      user: admission.user,
      provider: provider.name,
      factor: answer.factor ? 'provider' : null,
      ...(session !== undefined && { providerSession: session })
    }
    return completeSignIn(request, reply, proof, { returnTo: intent.returnTo })
  }
  const { email, preferred_username: username } = answer.claims
  const known = [email, username, answer.subject].find(text => typeof text === 'string' && text !== '')
  seal(reply, UNLINKED, { provider: provider.name, externUid: answer.subject, known: String(known).slice(0, 255) })
  return refuseSignIn(request, reply.code(403), {
    problem: `${admission.unknown}. If you have an account here, sign in to it now: then you can connect both.`,
    returnTo: `${IDENTITIES}/link`
  })
}

/** Only the user who asked for it, in the same browser, connects an account. */
async function connect(request: FastifyRequest, reply: FastifyReply, { provider, intent, answer }: Returned) {
  const visitor = await visitorOf(request)
  if (!visitor || visitor.user.id !== intent.connect)
    throw new Forbidden('Sign in, and connect your account from your profile')
  await linkIdentity(visitor.user, { provider: provider.name, externUid: answer.subject }, visitor.origin)
  return reply.redirect(IDENTITIES, 303)
}

/** Shows the sign-in page with what went wrong. */
function refuse(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { provider, returnTo }: { provider: Provider; returnTo: string | undefined }
): Promise<FastifyReply> {
  if (error instanceof ProviderAway) {
    note(error, provider.name)
    countSignIn('oidc', 'away')
    reply.header('retry-after', String(error.retryAfter))
    return refuseSignIn(request, reply.code(503), { problem: `${error.message}.`, returnTo })
  }
  if (error instanceof ProviderRefusal) {
    note(error, provider.name)
    countSignIn('oidc', 'failed')
    countWrongToken(request.address)
    return refuseSignIn(request, reply.code(403), { problem: `${error.message}.`, returnTo })
  }
  if (error instanceof Forbidden) {
    countSignIn('oidc', 'refused')
    return refuseSignIn(request, reply.code(403), { problem: `${error.reason}.`, returnTo })
  }
  throw error
}

function fail(error: unknown, request: FastifyRequest, reply: FastifyReply, { name }: Provider): Promise<FastifyReply> {
  if (error instanceof ProviderRefusal) note(error, name)
  const shown = error instanceof ProviderRefusal ? new Conflict(error.message) : error
  return showProblem(shown, request, reply, IDENTITIES)
}

/** The log has no tokens and no claims. */
const note = ({ reason }: ProviderAway | ProviderRefusal, provider: string) =>
  log().warn({ provider, reason }, 'a provider did not sign somebody in')

const queryOf = ({ url }: FastifyRequest) => new URLSearchParams(url.slice(url.indexOf('?') + 1))

/** Each sign-in that has begun ends once. */
const idOf = ({ secrets }: Intent): Buffer => createHash('sha256').update(`sign-in ${secrets.state}`).digest()
