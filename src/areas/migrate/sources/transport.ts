// One GET request to a source. Sources are hostile: the address rules of hooks apply to each connection, and bytes and seconds are
// limited. Nothing here sends any other method, so a migration never changes its source.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Agent, request as plainRequest } from '../../../lib/node-http.js'
import { faultText } from '../../../webhooks/faults.js'
import { allowedRanges, checkedLookup, checkLiteral, RefusedTarget } from '../../../webhooks/target.js'
import { SourceFailure, SourceRefusal } from './failures.js'

/** Seconds for one page, and for a file to send its next bytes. */
const PAGE_S = 60
const MOST_CONNECTIONS = 16

export interface Answer {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly stream: Readable
}

export interface Transport {
  /** Calls `read` with the answer, whose bytes must arrive within `seconds`. */
  get<T>(url: URL, headers: Headers, read: (answer: Answer) => Promise<T>, seconds?: number): Promise<T>
  close(): void
}

type Headers = { readonly [name: string]: string }

export function openTransport(signal: AbortSignal): Transport {
  const allow = allowedRanges()
  const options = {
    keepAlive: true,
    maxSockets: MOST_CONNECTIONS,
    lookup: checkedLookup(allow, signal),
    maxHeaderSize: 65_536
  }
  const agents = { plain: new Agent(options), secure: new https.Agent(options) }

  async function get<T>(
    url: URL,
    headers: Headers,
    read: (answer: Answer) => Promise<T>,
    seconds = PAGE_S
  ): Promise<T> {
    const limit = AbortSignal.timeout(seconds * 1000)
    const ending = AbortSignal.any([signal, limit])
    try {
      checkLiteral(url.hostname.replace(/^\[|\]$/g, ''), allow)
      return await exchange(url, headers, ending, read)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof SourceFailure) throw error
      if (limit.aborted) throw new SourceFailure(url, `gave no complete answer within ${seconds} s`)
      if (error instanceof RefusedTarget)
        throw new SourceRefusal(
          url,
          `has the address ${error.address}, which migrations may not reach: an administrator can list it in hooks.allow`
        )
      if (isNetworkFault(error)) throw new SourceFailure(url, `could not be read: ${faultText(error)}`)
      throw error
    }
  }

  async function exchange<T>(url: URL, headers: Headers, ending: AbortSignal, read: (answer: Answer) => Promise<T>) {
    const isSecure = url.protocol === 'https:'
    const outgoing = (isSecure ? https.request : plainRequest)(url, {
      method: 'GET',
      headers: { 'user-agent': 'Gitstead', ...headers },
      agent: isSecure ? agents.secure : agents.plain,
      signal: ending
    })
    // A connection that is cut after the answer may emit a second error. Without a listener, it would end the process.
    outgoing.on('error', () => {})
    let response: IncomingMessage | undefined
    try {
      outgoing.end()
      const [message] = (await once(outgoing, 'response', { signal: ending })) as [IncomingMessage]
      response = message
      const result = await read({
        status: response.statusCode ?? 0,
        headers: headersOf(response),
        stream: unpacked(url, response)
      })
      // A body that ends with its connection looks complete even when the time limit has cut it.
      ending.throwIfAborted()
      return result
    } finally {
      // A connection serves the next request once its answer was read, even if nobody wanted the body. Otherwise it would stay taken.
      if (response?.complete) response.resume()
      else outgoing.destroy()
    }
  }

  return {
    get,
    close: () => {
      agents.plain.destroy()
      agents.secure.destroy()
    }
  }
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
  pipeline(response, gunzip, () => {})
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
