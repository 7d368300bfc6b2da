// One request to another server. Servers are hostile: the address rules of hooks apply to each connection, and seconds are limited, both
// those of a whole answer and those of silence. Redirects are left to the caller.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import { pipeline as connect, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { Agent, request as plainRequest } from '../../../lib/node-http.js'
import { faultText } from '../../../webhooks/faults.js'
import { allowedRanges, checkedLookup, checkLiteral, RefusedTarget } from '../../../webhooks/target.js'
import { SourceFailure, SourceRefusal } from './source-failures.js'

/** Seconds for one page, and for a server to send or take its next bytes. */
const LIMITS = { page: 60, idle: 60 }
export type TransportLimits = Partial<typeof LIMITS>

const MOST_CONNECTIONS = 16

export interface Answer {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly stream: Readable
}

interface Sending {
  readonly method: 'POST' | 'PUT'
  readonly headers: Headers
  readonly body: Buffer | Readable
  /** Default: those of a page. */
  readonly seconds?: number
}

export interface Transport {
  /** Calls `read` with the answer, whose bytes must arrive within `seconds`. */
  get<T>(url: URL, headers: Headers, read: (answer: Answer) => Promise<T>, seconds?: number): Promise<T>
  /** The same for a request with a body. A stream is destroyed at the end. */
  send<T>(url: URL, sending: Sending, read: (answer: Answer) => Promise<T>): Promise<T>
  close(): void
}

type Headers = { readonly [name: string]: string }

/** `limits` are for tests. */
export function openTransport(signal: AbortSignal, limits: TransportLimits = {}): Transport {
  const { page, idle } = { ...LIMITS, ...limits }
  const allow = allowedRanges()
  const options = {
    keepAlive: true,
    maxSockets: MOST_CONNECTIONS,
    lookup: checkedLookup(allow, signal),
    maxHeaderSize: 65_536
  }
  const agents = { plain: new Agent(options), secure: new https.Agent(options) }

  async function perform<T>(url: URL, sending: Outgoing, read: (answer: Answer) => Promise<T>): Promise<T> {
    const { seconds = page } = sending
    const limit = AbortSignal.timeout(seconds * 1000)
    const ending = AbortSignal.any([signal, limit])
    try {
      checkLiteral(url.hostname.replace(/^\[|\]$/g, ''), allow)
      return await exchange(url, sending, ending, read)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof SourceFailure) throw error
      if (limit.aborted) throw new SourceFailure(url, `gave no complete answer within ${seconds} s`)
      if (error instanceof RefusedTarget)
        throw new SourceRefusal(
          url,
          `has the address ${error.address}, which the appliance may not reach: an administrator can list it in hooks.allow`
        )
      if (isNetworkFault(error)) throw new SourceFailure(url, `could not be read: ${faultText(error)}`)
      throw error
    }
  }

  async function exchange<T>(
    url: URL,
    { method, headers, body }: Outgoing,
    ending: AbortSignal,
    read: (answer: Answer) => Promise<T>
  ) {
    const isSecure = url.protocol === 'https:'
    const outgoing = (isSecure ? https.request : plainRequest)(url, {
      method,
      headers: { 'user-agent': 'Gitstead', ...headers },
      agent: isSecure ? agents.secure : agents.plain,
      signal: ending,
      timeout: idle * 1000
    })
    // A connection that is cut after the answer may emit a second error. Without a listener, it would end the process.
    outgoing.on('error', () => {})
    let silence: SourceFailure | undefined
    outgoing.on('timeout', () => {
      silence = new SourceFailure(url, `was silent for ${idle} s`)
      outgoing.destroy(silence)
    })
    let response: IncomingMessage | undefined
    try {
      const answered = once(outgoing, 'response', { signal: ending })
      // A server may answer before it has read the body. Then the answer counts, and not the broken connection.
      if (body instanceof Readable) pipeline(body, outgoing).catch(() => {})
      else outgoing.end(body)
      const [message] = (await answered) as [IncomingMessage]
      response = message
      const result = await read({
        status: response.statusCode ?? 0,
        headers: headersOf(response),
        stream: unpacked(url, response)
      })
      // A body that ends with its connection looks complete even when the time limit has cut it.
      ending.throwIfAborted()
      return result
    } catch (error) {
      // The reader of the answer sees only a connection that was cut.
      throw silence ?? error
    } finally {
      if (body instanceof Readable) body.destroy()
      // A connection serves the next request once its answer was read, even if nobody wanted the body. Otherwise it would stay taken.
      if (response?.complete && outgoing.writableFinished) response.resume()
      else outgoing.destroy()
    }
  }

  return {
    get: (url, headers, read, seconds = page) => perform(url, { method: 'GET', headers, seconds }, read),
    send: perform,
    close: () => {
      agents.plain.destroy()
      agents.secure.destroy()
    }
  }
}

interface Outgoing extends Omit<Sending, 'method' | 'body'> {
  readonly method: Sending['method'] | 'GET'
  readonly body?: Sending['body']
}

function isNetworkFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as NodeJS.ErrnoException
  return typeof code === 'string' || error.name === 'AbortError'
}

const headersOf = ({ headers }: IncomingMessage): Headers =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))
  )

function unpacked(url: URL, response: IncomingMessage): Readable {
  const encoding = response.headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') return response
  if (encoding !== 'gzip') throw new SourceRefusal(url, 'has a content encoding that nobody asked for')
  const gunzip = createGunzip()
  // A failure of either reaches the reader of the second.
  connect(response, gunzip, () => {})
  return gunzip
}

/** Reads a text of at most `limit` bytes. */
export async function readText(url: URL, stream: Readable, limit: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limit) throw new SourceRefusal(url, `is larger than ${limit} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
