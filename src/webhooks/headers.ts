// Makes the headers of a delivery, and removes secrets from its record.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../config.js'
import { percentDecoded } from '../lib/percent.js'
import { sign, unixSeconds } from './sign.js'

const REDACTED = '[redacted]'
/** The signature is secret too: with the payload, an attacker could find a weak token by guessing. */
const SECRET_HEADERS = new Set(['X-Gitstead-Token', 'X-Gitlab-Token', 'Authorization', 'webhook-signature'])

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }

/** The parts of a request that its headers depend on; `body` has the bytes that are sent. */
export interface Signed {
  readonly event: string
  readonly token: string | null
  readonly id: string
  readonly timestamp: Date
  readonly body: Buffer
}

/** Every header except Host. A user and password in the URL become basic authentication. */
export function hookHeaders(request: Signed, url: URL): Record<string, string> {
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'Content-Length': String(request.body.length),
    'User-Agent': `Gitstead/${version}`,
    'X-Gitstead-Event': request.event,
    'X-Gitlab-Event': request.event,
    'webhook-id': request.id,
    'webhook-timestamp': String(unixSeconds(request.timestamp))
  }
  if (request.token) {
    const token = headerBytes(request.token)
    headers['X-Gitstead-Token'] = token
    headers['X-Gitlab-Token'] = token
    headers['webhook-signature'] = sign({ ...request, token: request.token })
  }
  const credentials = basicCredentials(url)
  if (credentials) headers.Authorization = `Basic ${credentials}`
  return headers
}

/** The headers, with the values of secret headers replaced. */
export function withoutSecretHeaders(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, SECRET_HEADERS.has(name) ? REDACTED : value])
  )
}

/** The texts that would reveal a secret if the receiver repeated them in its answer. */
export function secretsOf(token: string | null, url: URL): string[] {
  const ofUrl = [
    percentDecoded(url.password),
    basicCredentials(url),
    ...url.searchParams.values(),
    ...rawValues(url.search)
  ]
  const texts = [token ?? '', token ? headerBytes(token) : '', ...ofUrl]
  // A secret of a few characters protects nothing, and replacing those characters would spoil every answer.
  return [...new Set(texts)].filter(text => text.length >= 6).sort((a, b) => b.length - a.length)
}

/** The values of a query as they are sent. A parameter without a name is a value. */
const rawValues = (search: string) =>
  search
    .slice(1)
    .split('&')
    .map(parameter => parameter.replace(/^[^=]*=/, ''))

/** A text with the secrets replaced. */
export function withoutSecrets(text: string, secrets: string[]): string {
  return secrets.reduce((kept, secret) => kept.replaceAll(secret, REDACTED), text)
}

/** The headers with the secrets replaced in their values. */
export function withoutSecretsIn(headers: Record<string, string>, secrets: string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, withoutSecrets(value, secrets)]))
}

/** Node.js sends headers as Latin-1 and refuses other characters. With this, it sends the UTF-8 bytes of any token. */
function headerBytes(token: string): string {
  return Buffer.from(token).toString('latin1')
}

function basicCredentials(url: URL): string {
  if (!url.username && !url.password) return ''
  return Buffer.from(`${percentDecoded(url.username)}:${percentDecoded(url.password)}`).toString('base64')
}
