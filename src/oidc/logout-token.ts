// Logout tokens: with one, a provider ends sessions that it has begun (OpenID Connect Back-Channel Logout 1.0). openid-client does
// not read them, so their signature and claims are checked here.
import { constants, createPublicKey, verify } from 'node:crypto'
import { ProviderRefusal } from './failures.js'
import { type Key, keysFor } from './keys.js'
import { clientOf, type Provider } from './provider.js'

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'

/** Seconds for which a token may be on its way. */
const LONGEST_WAY = 300

const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
const P1363 = { dsaEncoding: 'ieee-p1363' as const }

/** Algorithm -> the type of its keys, and how to verify. Only with public keys: a client secret or no key proves nothing here. */
const ALGORITHMS: {
  readonly [name: string]: {
    readonly kty: string
    readonly crv?: string
    readonly hash: string | null
    readonly how: object
  }
} = {
  RS256: { kty: 'RSA', hash: 'sha256', how: {} },
  RS384: { kty: 'RSA', hash: 'sha384', how: {} },
  RS512: { kty: 'RSA', hash: 'sha512', how: {} },
  PS256: { kty: 'RSA', hash: 'sha256', how: PSS },
  PS384: { kty: 'RSA', hash: 'sha384', how: PSS },
  PS512: { kty: 'RSA', hash: 'sha512', how: PSS },
  ES256: { kty: 'EC', crv: 'P-256', hash: 'sha256', how: P1363 },
  ES384: { kty: 'EC', crv: 'P-384', hash: 'sha384', how: P1363 },
  ES512: { kty: 'EC', crv: 'P-521', hash: 'sha512', how: P1363 },
  EdDSA: { kty: 'OKP', crv: 'Ed25519', hash: null, how: {} },
  Ed25519: { kty: 'OKP', crv: 'Ed25519', hash: null, how: {} }
}

export interface LogoutToken {
  /** Each token is accepted once. */
  readonly jti: string
  readonly subject: string | undefined
  readonly session: string | undefined
}

/** Returns what a logout token asks for. Throws ProviderRefusal when it proves nothing, and ProviderAway. */
export async function readLogoutToken(provider: Provider, token: string): Promise<LogoutToken> {
  const refuse = (reason: string) => new ProviderRefusal('The logout token is not valid', reason)
  const [head = '', body = '', signature = '', ...more] = token.split('.')
  const header = parsed(head)
  const { alg, kid, crit } = header
  if (more.length > 0 || typeof alg !== 'string' || !Object.hasOwn(ALGORITHMS, alg) || crit !== undefined) {
    throw refuse('its form or algorithm is not accepted')
  }
  const keys = await keysFor(provider, typeof kid === 'string' ? kid : undefined)
  const signed = Buffer.from(`${head}.${body}`)
  const bytes = Buffer.from(signature, 'base64url')
  if (!keys.some(key => isSignedBy(key, alg, signed, bytes))) throw refuse('no key of the provider has signed it')
  const claims = parsed(body)
  const problem = problemOf(claims, provider, (await clientOf(provider)).serverMetadata().issuer)
  if (problem !== null) throw refuse(problem)
  const { jti, sub, sid } = claims as { jti: string; sub?: string; sid?: string }
  return { jti, subject: sub, session: sid }
}

function parsed(part: string): { readonly [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

function isSignedBy(key: Key, alg: string, signed: Buffer, signature: Buffer): boolean {
  const rule = ALGORITHMS[alg]
  if (!rule || key.kty !== rule.kty || (rule.crv !== undefined && key.crv !== rule.crv)) return false
  if (key.alg !== undefined && key.alg !== alg) return false
  try {
    const known = createPublicKey({ key, format: 'jwk' })
    if (rule.kty === 'RSA' && (known.asymmetricKeyDetails?.modulusLength ?? 0) < 2048) return false
    return verify(rule.hash, signed, { key: known, ...rule.how }, signature)
  } catch {
    return false
  }
}

function problemOf(
  claims: { readonly [name: string]: unknown },
  { settings }: Provider,
  issuer: string
): string | null {
  const { iss, aud, iat, exp, jti, sub, sid, events, nonce } = claims
  const now = Date.now() / 1000
  const { client_id: client, clock_skew: skew } = settings
  if (iss !== issuer) return 'it is from another issuer'
  if (aud !== client && !(Array.isArray(aud) && aud.includes(client))) return 'it is for another client'
  if (typeof iat !== 'number' || iat > now + skew || iat < now - skew - LONGEST_WAY)
    return 'its time is not the current time'
  if (exp !== undefined && (typeof exp !== 'number' || exp <= now - skew)) return 'it has expired'
  if (typeof jti !== 'string' || jti === '' || jti.length > 255) return 'it has no jti'
  if (nonce !== undefined) return 'it is an ID token'
  if (typeof events !== 'object' || events === null || !Object.hasOwn(events, EVENT)) return 'it is not about a logout'
  if (![sub, sid].some(id => typeof id === 'string' && id !== '')) return 'it names no person and no session'
  if (![sub, sid].every(id => id === undefined || typeof id === 'string')) return 'its sub or sid is not a text'
  return null
}
