// The two halves of a sign-in: the way to the provider, and the answer that the browser brings back. Authorization code with PKCE,
// state and nonce; openid-client checks issuer, audience, authorized party, times, nonce and the signature of the ID token.
import { publicUrl } from '../config.js'
import { translated } from './failures.js'
import { clientOf, library, type Provider } from './provider.js'

/** What the browser keeps, sealed, until it comes back. */
export interface Secrets {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export type Claims = { readonly [name: string]: unknown }

export interface Answer {
  /** The id of the person at the provider. It is the only claim that identifies somebody. */
  readonly subject: string
  readonly claims: Claims
  /** The provider's id of the session. */
  readonly session: string | undefined
  /** Whether the provider says that it has checked a second factor. */
  readonly factor: boolean
}

const redirectUri = ({ name }: Provider): string => `${publicUrl()}/users/auth/${name}/callback`

/** Returns where to send the browser. Throws ProviderAway and ProviderRefusal. */
export async function beginFlow(provider: Provider): Promise<{ url: string; secrets: Secrets }> {
  const [oidc, client] = await Promise.all([library(), clientOf(provider)])
  const secrets = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() }
  try {
    const url = oidc.buildAuthorizationUrl(client, {
      redirect_uri: redirectUri(provider),
      scope: provider.settings.scopes.join(' '),
      code_challenge: await oidc.calculatePKCECodeChallenge(secrets.verifier),
      code_challenge_method: 'S256',
      state: secrets.state,
      nonce: secrets.nonce
    })
    return { url: url.href, secrets }
  } catch (error) {
    throw translated(error, provider.label)
  }
}

/** Reads the answer in the query of the callback. Throws ProviderAway and ProviderRefusal. */
export async function endFlow(
  provider: Provider,
  query: URLSearchParams,
  { state, nonce, verifier }: Secrets
): Promise<Answer> {
  const [oidc, client] = await Promise.all([library(), clientOf(provider)])
  const url = new URL(redirectUri(provider))
  url.search = query.toString()
  try {
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true }
    const tokens = await oidc.authorizationCodeGrant(client, url, checks)
    const idToken = tokens.claims()
    if (!idToken) throw new Error('the answer has no ID token')
    const hasUserInfo = client.serverMetadata().userinfo_endpoint !== undefined
    const info = hasUserInfo ? await oidc.fetchUserInfo(client, tokens.access_token, idToken.sub) : {}
    const { sid, amr } = idToken
    return {
      subject: idToken.sub,
      claims: merged(idToken, info),
      session: typeof sid === 'string' && sid.length <= LONGEST_SESSION ? sid : undefined,
      factor: Array.isArray(amr) && amr.some(method => FACTORS.has(method))
    }
  } catch (error) {
    throw translated(error, provider.label)
  }
}

/** Returns where a browser ends its session at the provider; null for a provider without such a page. Throws ProviderAway and ProviderRefusal. */
export async function wayOut(provider: Provider): Promise<string | null> {
  const [oidc, client] = await Promise.all([library(), clientOf(provider)])
  if (client.serverMetadata().end_session_endpoint === undefined) return null
  return oidc.buildEndSessionUrl(client, { post_logout_redirect_uri: `${publicUrl()}/users/sign_in` }).href
}

/** Characters of the column. */
const LONGEST_SESSION = 255

/** Methods of RFC 8176 that are more than one secret. */
const FACTORS = new Set<unknown>(['mfa', 'otp', 'hwk', 'swk', 'sc'])

/** An address and the word that it is verified must come from the same place. */
function merged(idToken: Claims, info: Claims): Claims {
  const claims: Record<string, unknown> = { ...idToken, ...info }
  if (info.email !== undefined && info.email !== idToken.email && info.email_verified === undefined) {
    delete claims.email_verified
  }
  return claims
}
