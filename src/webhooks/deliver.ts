// Sends one hook to its receiver. Both may be hostile: the URL may point into a private network, and the receiver may
// stall, send byte by byte, send too much, or redirect. The caller retries and keeps the record.
import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import https from 'node:https'
import { performance } from 'node:perf_hooks'
import { config } from '../config.js'
import type { Range } from '../lib/address.js'
import { request as plainRequest } from '../lib/node-http.js'
import { boundedHeaders, boundedText, decodeText, readBody } from './answer.js'
import { faultText } from './faults.js'
import { hookHeaders, secretsOf, withoutSecretHeaders, withoutSecrets, withoutSecretsIn } from './headers.js'
import { allowedRanges, checkedLookup, checkLiteral } from './target.js'
import { checkHookUrl } from './url.js'

/** Bytes of the largest payload that is sent. */
const BODY_LIMIT = 25 * 1024 * 1024

export interface HookRequest {
  readonly url: string
  /** The JSON text. Exactly these bytes are sent and signed. */
  readonly body: string | Buffer
  /** The value of X-Gitstead-Event, such as `System Hook`. */
  readonly event: string
  readonly token: string | null
  readonly verifyTls: boolean
  /** The `webhook-id`: the same in every try, so that a receiver can ignore a delivery that it already has. */
  readonly id: string
  readonly timestamp: Date
}

export interface DeliveryResult {
  /** Whether the whole answer arrived in time, with a status of 200 to 299. */
  readonly delivered: boolean
  /** The status of the answer; null when no answer came. */
  readonly status: number | null
  /** One line without secrets, or null. */
  readonly error: string | null
  readonly requestHeaders: Record<string, string>
  readonly responseHeaders: Record<string, string>
  /** At most `hooks.response_limit` bytes of UTF-8. */
  readonly responseBody: string
  readonly durationMs: number
}

/** The result so far. It is filled during the exchange, so that an exchange that is cut keeps what it has. */
type Progress = {
  -readonly [Field in 'status' | 'requestHeaders' | 'responseHeaders' | 'responseBody']: DeliveryResult[Field]
}

class Unsendable extends Error {}

/**
 * POSTs a hook and returns the result. A fault of the URL, the network or the receiver is a result and never thrown.
 * Lookup, connection, headers and body together have `hooks.timeout` seconds. A redirect is a failure. Throws
 * Misconfigured when `hooks.allow` is wrong.
 */
export async function deliverHook(request: HookRequest): Promise<DeliveryResult> {
  const started = performance.now()
  const { timeout } = config().hooks
  const allow = allowedRanges()
  const signal = AbortSignal.timeout(timeout * 1000)
  const progress: Progress = { status: null, requestHeaders: {}, responseHeaders: {}, responseBody: '' }
  let error: string | null
  try {
    await exchange(request, progress, { allow, signal })
    error = statusFault(progress.status)
  } catch (fault) {
    error = signal.aborted ? `no complete answer within ${timeout} s` : faultText(fault)
  }
  return { delivered: error === null, ...progress, error, durationMs: Math.round(performance.now() - started) }
}

async function exchange(
  request: HookRequest,
  progress: Progress,
  limits: { readonly allow: readonly Range[]; readonly signal: AbortSignal }
) {
  const { url, body } = sendable(request)
  const headers = hookHeaders({ ...request, body }, url)
  progress.requestHeaders = withoutSecretHeaders(headers)
  const outgoing = openRequest(url, { headers, verifyTls: request.verifyTls, ...limits })
  const secrets = secretsOf(request.token, url)
  const kept: Buffer[] = []
  const limit = config().hooks.response_limit
  try {
    outgoing.end(body)
    // The signal is needed here too, because a connection that ends with an upgrade emits neither an answer nor an error.
    const [response] = (await once(outgoing, 'response', { signal: limits.signal })) as [IncomingMessage]
    progress.status = response.statusCode ?? null
    progress.responseHeaders = withoutSecretsIn(boundedHeaders(response), secrets)
    await readBody(response, limit, kept)
    // A body that ends with its connection looks complete even when the time limit has cut it.
    limits.signal.throwIfAborted()
  } finally {
    outgoing.destroy()
    progress.responseBody = boundedText(withoutSecrets(decodeText(Buffer.concat(kept)), secrets), limit)
  }
}

function sendable(request: HookRequest): { url: URL; body: Buffer } {
  const problem = checkHookUrl(request.url)
  if (problem) throw new Unsendable(`the URL ${problem}`)
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.from(request.body)
  if (body.length > BODY_LIMIT) throw new Unsendable(`the payload is larger than ${BODY_LIMIT} bytes`)
  return { url: new URL(request.url), body }
}

interface Opening {
  readonly headers: { readonly [name: string]: string }
  readonly verifyTls: boolean
  readonly allow: readonly Range[]
  readonly signal: AbortSignal
  readonly method?: 'GET' | 'POST'
}

/** Starts the request. Throws RefusedTarget, and ERR_INVALID_CHAR for a header with invalid characters. */
export function openRequest(url: URL, { headers, verifyTls, allow, signal, method = 'POST' }: Opening): ClientRequest {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  checkLiteral(host, allow)
  const request = url.protocol === 'https:' ? https.request : plainRequest
  const outgoing = request({
    protocol: url.protocol,
    host,
    port: url.port || undefined,
    path: url.pathname + url.search,
    method,
    headers,
    // Without a shared agent, there is a new connection each time, no proxy of the environment, no shared TLS session.
    agent: false,
    lookup: checkedLookup(allow, signal),
    maxHeaderSize: 16384,
    rejectUnauthorized: verifyTls,
    signal
  })
  // A connection that is cut after the answer may emit a second error. Without a listener, it would end the process.
  outgoing.on('error', () => {})
  return outgoing
}

function statusFault(status: number | null): string | null {
  if (status !== null && status >= 200 && status < 300) return null
  const redirect = status !== null && status >= 300 && status < 400
  return redirect
    ? `the receiver redirects (${status}), and redirects are not followed`
    : `the receiver answered ${status}`
}
