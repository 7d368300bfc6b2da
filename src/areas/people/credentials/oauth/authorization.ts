// The first step of the code grant: the request of an application, and the decision of the user. The library checks the
// request for the page and again for the decision; the code is written here, with its audit event.
import type { ActorUser, Origin } from '../../../../access/actor.js'
import { OAuthRefusal } from '../../../../errors.js'
import { withParameters } from '../../../../lib/redirect-uri.js'
import type { ApplicationRow } from '../oauth-applications.queries.js'
import { CODE_LIFE, grantCode } from './grants.js'
import { oauthLibrary } from './library.js'
import { modelFor } from './model.js'
import { type Parameters, refusalOf } from './provider.js'

/** The access that an application requests. */
export interface Authorization {
  readonly application: ApplicationRow
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly state: string | undefined
  readonly challenge?: { readonly text: string; readonly method: string }
}

/** A refusal that the application receives: the browser is redirected there with it. */
export class RefusalToApplication extends OAuthRefusal {
  constructor(
    refusal: { readonly error: string; readonly message: string },
    redirectUri: string,
    state: string | undefined
  ) {
    super(refusal.error, refusal.message)
    this.location = withParameters(redirectUri, { error: refusal.error, error_description: refusal.message, state })
  }

  readonly location: string
}

/**
 * Reads the request of an application. Throws RefusalToApplication, or OAuthRefusal when the application or its
 * redirect URI is wrong: then the browser must not be redirected there.
 */
export async function readAuthorization(parameters: Parameters, address: string): Promise<Authorization> {
  const { redirect_uri: redirectUri, state } = parameters
  // Not specified: whether the application's only URI applies when the request names none. An exact comparison is safer.
  if (redirectUri === undefined) throw new OAuthRefusal('invalid_request', 'Missing parameter: `redirect_uri`')
  let found: Authorization | undefined
  const model = modelFor({ address })
  const OAuth2Server = oauthLibrary()
  const library = new OAuth2Server({
    model: {
      ...model,
      // Nothing is written yet.
      saveAuthorizationCode: async (code, client, user) => {
        const { application } = client as unknown as { application: ApplicationRow }
        found = { application, redirectUri, scopes: code.scope ?? [], state }
        return { ...code, client, user }
      }
    }
  })
  const request = new OAuth2Server.Request({ method: 'GET', headers: {}, query: {}, body: parameters })
  const response = new OAuth2Server.Response()
  try {
    await library.authorize(request, response, AUTHORIZE)
  } catch (error) {
    const refusal = refusalOf(error)
    // The library sets a location only when the application and its URI are valid.
    const redirectable = response.get('location') !== undefined && refusal instanceof OAuthRefusal
    throw redirectable ? new RefusalToApplication(refusal, redirectUri, state) : refusal
  }
  if (!found) throw new Error('the library did not save a code')
  return withChallenge(found, parameters)
}

const AUTHORIZE = {
  authenticateHandler: { handle: () => ({}) },
  allowEmptyState: true,
  authorizationCodeLifetime: CODE_LIFE,
  enablePlainPKCE: true
}

/** RFC 7636 assumes `plain` when the method is missing; here a client must name it. */
function withChallenge(request: Authorization, parameters: Parameters): Authorization {
  const { code_challenge: text, code_challenge_method: method } = parameters
  const refuse = (problem: string) =>
    new RefusalToApplication({ error: 'invalid_request', message: problem }, request.redirectUri, request.state)
  if (text === undefined) {
    if (method !== undefined) throw refuse('Missing parameter: `code_challenge`')
    if (request.application.confidential === 1) return request
    throw refuse('Missing parameter: `code_challenge`: this application must use PKCE')
  }
  if (method === undefined) throw refuse('Missing parameter: `code_challenge_method`: use S256')
  if (!/^[\w.~-]{43,128}$/.test(text)) throw refuse('Invalid parameter: `code_challenge`')
  return { ...request, challenge: { text, method } }
}

/** Stores the consent of the user. Returns the address to which the browser is redirected, with the code. */
export async function approve(request: Authorization, user: ActorUser, origin: Origin): Promise<string> {
  const { application, redirectUri, scopes, state, challenge } = request
  const code = await grantCode({ client: application, userId: user.id, scopes, redirectUri, challenge }, origin)
  return withParameters(redirectUri, { code, state })
}

/** Returns the address to which the browser is redirected when the user refuses. */
export const deny = ({ redirectUri, state }: Authorization): string =>
  new RefusalToApplication({ error: 'access_denied', message: 'The user refused the access' }, redirectUri, state)
    .location
