// A provider of OpenID Connect that answers whatever a test wants: tokens that prove nothing, documents that never end.
import { createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Certificate } from '../webhooks/receiver.js'

type Values = { readonly [name: string]: unknown }
type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void

export interface ForgingProvider {
  readonly issuer: string
  readonly settings: Values
  /** Path -> what it answers. Tests replace them. */
  readonly handlers: Map<string, Handler>
  /** The paths that were asked. */
  readonly asked: string[]
  /** The body of the last request for a token. */
  tokenRequest: URLSearchParams
  /** Signs claims with the key of the provider, or as `how` says. */
  token(claims: Values, how?: Forgery): string
}

export interface Forgery {
  readonly header?: Values
  readonly key?: KeyObject
  /** Signs with a secret that both sides know. */
  readonly secret?: string | Buffer
  readonly unsigned?: boolean
}

interface Test {
  teardown(fn: () => Promise<void>): void
}

const CLIENT = { client_id: 'gitstead', client_secret: 'secret-of-the-client' }
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

export const json =
  (value: unknown, headers: Readonly<Record<string, string>> = {}): Handler =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(value))
  }

export const newKeyPair = () => generateKeyPairSync('rsa', { modulusLength: 2048 })

/** With a certificate, which must be for localhost, the provider speaks TLS only. */
export async function startForgingProvider(t: Test, certificate?: Certificate): Promise<ForgingProvider> {
  const { privateKey, publicKey } = newKeyPair()
  const handlers = new Map<string, Handler>()
  const asked: string[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const [path = ''] = (request.url ?? '').split('?')
    asked.push(path)
    let body = ''
    for await (const chunk of request) body += chunk
    if (path === '/token') provider.tokenRequest = new URLSearchParams(body)
    const handler = handlers.get(path)
    if (handler) handler(request, response, body)
    else response.writeHead(404).end()
  }
  const server = certificate ? createSecureServer(certificate, answer) : createServer(answer)
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const issuer = certificate ? `https://localhost:${port}` : `http://127.0.0.1:${port}`
  const provider: ForgingProvider = {
    issuer,
    settings: { issuer, ...CLIENT, label: 'Forged', timeout: 1 },
    handlers,
    asked,
    tokenRequest: new URLSearchParams(),
    token: (claims, { header, key = privateKey, secret, unsigned } = {}) => {
      const signed = `${part({ alg: 'RS256', kid: 'one', typ: 'JWT', ...header })}.${part(claims)}`
      if (unsigned) return `${signed}.`
      if (secret !== undefined) return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
      return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`
    }
  }
  handlers.set(
    '/keys',
    json({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }] })
  )
  handlers.set('/.well-known/openid-configuration', json(discoveryOf(issuer)))
  return provider
}

export const discoveryOf = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/keys`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
  token_endpoint_auth_methods_supported: ['client_secret_basic']
})

/** The claims of a valid ID token. */
export function idClaims(issuer: string, nonce: string, changes: Values = {}): Values {
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: issuer, aud: CLIENT.client_id, sub: 'somebody', nonce, iat: now, exp: now + 300, ...changes }
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined))
}

/** The claims of a valid logout token. */
export function logoutClaims(issuer: string, changes: Values = {}): Values {
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const { nonce: _, ...claims } = idClaims(issuer, '', { jti: randomUUID(), events })
  return Object.fromEntries(Object.entries({ ...claims, ...changes }).filter(([, value]) => value !== undefined))
}
