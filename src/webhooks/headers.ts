// The headers of a delivery, and what of them may be kept in its record.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../config.js'
import { sign, unixSeconds } from './sign.js'

const redacted = '[redacted]'
/** The signature too: with the payload beside it, a weak token could be guessed from it. */
const secretHeaders = new Set(['X-Gitstead-Token', 'X-Gitlab-Token', 'Authorization', 'webhook-signature'])

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }

/** The parts of a request that its headers are made from; `body` holds the bytes that are sent. */
export interface Signed {
  event: string
  token: string | null
  id: string
  timestamp: Date
  body: Buffer
}

/** Every header but Host. User info in the URL becomes basic authentication. */
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

/** The same headers with the values of secret ones blotted out. */
export function withoutSecretHeaders(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, secretHeaders.has(name) ? redacted : value])
  )
}

/** The texts that would give a secret away if the receiver repeated them in its answer. */
export function secretsOf(token: string | null, url: URL): string[] {
  const texts = [token ?? '', token ? headerBytes(token) : '', decoded(url.password), basicCredentials(url)]
  // A secret of a few characters is no secret, and blotting those out would spoil every answer.
  return [...new Set(texts)].filter(text => text.length >= 6).sort((a, b) => b.length - a.length)
}

/** Blots the secrets out of a text. */
export function withoutSecrets(text: string, secrets: string[]): string {
  return secrets.reduce((kept, secret) => kept.replaceAll(secret, redacted), text)
}

/** The same for the values of headers. */
export function withoutSecretsIn(headers: Record<string, string>, secrets: string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, withoutSecrets(value, secrets)]))
}

/** Node sends header text as Latin-1 and refuses what does not fit; this sends any token as its UTF-8 bytes. */
function headerBytes(token: string): string {
  return Buffer.from(token).toString('latin1')
}

function basicCredentials(url: URL): string {
  if (!url.username && !url.password) return ''
  return Buffer.from(`${decoded(url.username)}:${decoded(url.password)}`).toString('base64')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
