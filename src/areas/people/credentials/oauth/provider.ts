// The OAuth 2 provider ("Tokens, scopes, OAuth"), built on @node-oauth/oauth2-server. It turns the input of clients
// into plain parameters, and the output of the library into the responses that the requirement specifies.
import { nobody, originOf } from '../../../../access/actor.js'
import { Failure, Forbidden, InvalidToken, OAuthRefusal, SecondFactorNeeded } from '../../../../errors.js'
import { parseBasic } from '../../../../lib/basic.js'
import { countWrongToken } from '../login-throttle.js'
import { findApplication } from '../oauth-applications.queries.js'
import { ASKED, type Pair, revokeGrant } from './grants.js'
import { findPair } from './grants.queries.js'
import { oauthLibrary } from './library.js'
import { GRANTS, modelFor, NO_CLIENT, proves } from './model.js'

/** The parameters of an OAuth request, all of them texts. */
export interface Parameters {
  readonly [name: string]: string | undefined
}

export interface TokenRequest {
  readonly parameters: Parameters
  /** The Authorization header. */
  readonly authorization: string | undefined
  readonly address: string
}

/** Required parameters; the credentials of the client are checked after them. */
const NEEDED: { readonly [grant: string]: readonly string[] } = {
  authorization_code: ['code', 'redirect_uri'],
  refresh_token: ['refresh_token'],
  password: ['username', 'password'],
  client_credentials: []
}

/** Reads parameters as clients send them. Throws OAuthRefusal when one of them is not a text. */
export function readParameters(input: unknown): Parameters {
  const found = Object.entries(typeof input === 'object' && input !== null ? input : {})
  const odd = found.find(([, value]) => typeof value !== 'string')
  if (odd) throw new OAuthRefusal('invalid_request', `Invalid parameter: \`${odd[0].slice(0, 50)}\``)
  return Object.fromEntries(found.filter(([, value]) => value !== ''))
}

/** Handles `POST /oauth/token`. Throws OAuthRefusal, TooManyRequests. */
export async function exchange({ parameters, authorization, address }: TokenRequest): Promise<Pair> {
  const { grant_type: grantType } = parameters
  if (!grantType) throw missing('grant_type')
  const needed = NEEDED[grantType]
  if (!needed || !GRANTS.some(name => name === grantType)) {
    throw new OAuthRefusal('unsupported_grant_type', 'Unsupported grant type: `grant_type` is invalid')
  }
  const lacking = needed.find(name => parameters[name] === undefined)
  if (lacking !== undefined) throw missing(lacking)
  const { redirect_uri: redirectUri, username, password } = parameters
  const model = modelFor({ address, grantType, redirectUri, username, password })
  const OAuth2Server = oauthLibrary()
  const request = new OAuth2Server.Request({
    method: 'POST',
    headers: { ...FORM, ...(parseBasic(authorization) && authorization ? { authorization } : {}) },
    query: {},
    body: bodyOf(parameters, grantType, parseBasic(authorization) !== null)
  })
  try {
    await new OAuth2Server({ model }).token(request, new OAuth2Server.Response(), OPTIONS)
  } catch (error) {
    throw refusalOf(error)
  }
  const pair = model.issued()
  if (!pair) throw new Error('the library issued no token')
  return pair
}

/** The library requires the content type of a form, and a length. */
const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '1' }

const OPTIONS = {
  // The model knows which applications must send their secret.
  requireClientAuthentication: {
    authorization_code: false,
    refresh_token: false,
    password: false,
    client_credentials: true
  },
  // Only a code for which the client requested `plain` has it.
  enablePlainPKCE: true
}

function bodyOf(parameters: Parameters, grantType: string, hasHeader: boolean): Parameters {
  const anonymous = (grantType === 'password' || grantType === 'refresh_token') && !hasHeader
  return {
    ...parameters,
    ...(anonymous && parameters.client_id === undefined ? { client_id: NO_CLIENT } : {}),
    // The model has the real values: the library would refuse some characters of passwords, such as emoji.
    ...(grantType === 'password' ? { username: 'given', password: 'given' } : {})
  }
}

const missing = (name: string) => new OAuthRefusal('invalid_request', `Missing parameter: \`${name}\``)

const FACTOR_NEEDED =
  'The account has a second factor: use a personal access token, or let the user authorize the application'

/** Returns the refusal for an error of the library, or the error that the model threw. */
export function refusalOf(error: unknown): unknown {
  if (!(error instanceof oauthLibrary().OAuthError)) return error
  const { inner } = error as { inner?: unknown }
  // Sign-in with passwords may be turned off.
  if (inner instanceof SecondFactorNeeded) return new OAuthRefusal('invalid_grant', FACTOR_NEEDED)
  if (inner instanceof Forbidden) return new OAuthRefusal('invalid_grant', inner.reason ?? inner.message)
  if (inner instanceof Failure || (error.code >= 500 && inner !== undefined)) return inner
  return error.code >= 500 ? error : new OAuthRefusal(error.name, error.message)
}

/** Handles `GET /oauth/token/info`. */
export async function tokenInfo(token: string | undefined, address: string) {
  const found = token === undefined ? undefined : await findPair('token_hash', token)
  if (!found) {
    if (token !== undefined) countWrongToken(address)
    throw new InvalidToken('The access token is missing or unknown')
  }
  const { expires_at: end, user_id, state } = found
  if (found.revoked_at || found.grant_revoked_at || (user_id !== null && state !== 'active')) {
    throw new InvalidToken('The access token was revoked')
  }
  if (end && end.getTime() <= Date.now()) throw new InvalidToken('The access token has expired')
  return {
    resource_owner_id: user_id,
    scopes: found.scopes.split(' '),
    expires_in_seconds: end && Math.floor((end.getTime() - Date.now()) / 1000),
    application: { uid: found.uid },
    created_at: Math.floor(found.created_at.getTime() / 1000)
  }
}

/**
 * Handles `POST /oauth/revoke` (RFC 7009): ends the token with all others of its grant. An unknown token is not an
 * error. Not specified: the client need not authenticate, because ending a leaked token is always safe; but a client
 * that does authenticate must be the client of the token. Throws OAuthRefusal.
 */
export async function revoke({ parameters, authorization, address }: TokenRequest): Promise<void> {
  const { token } = parameters
  const basic = parseBasic(authorization)
  const uid = basic?.user ?? parameters.client_id
  if (uid !== undefined) {
    const application = await findApplication(uid)
    if (!application || !proves(application, basic?.password ?? parameters.client_secret)) {
      countWrongToken(address)
      throw new OAuthRefusal('invalid_client', 'Invalid client: client is invalid')
    }
  }
  if (token === undefined) throw missing('token')
  const found = (await findPair('token_hash', token)) ?? (await findPair('refresh_hash', token))
  if (!found) return countWrongToken(address)
  if (uid !== undefined && found.uid !== uid) return
  await revokeGrant(found.grant_id, originOf({ ...nobody, by: 'oauth' }, address), ASKED)
}
