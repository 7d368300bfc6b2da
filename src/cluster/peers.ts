// Requests from one machine to the server of another one. A header, signed with the key that all machines of an appliance share, says
// which client the request is for, and that it must not be passed on again.
import { timingSafeEqual } from 'node:crypto'
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { request as sendTls, Agent as TlsAgent } from 'node:https'
import { Agent, request as send } from '../lib/node-http.js'
import { signature } from '../secrets.js'
import { databaseTime } from './clock.js'
import { endWhenSilent } from './silence.js'

export const PASSED_ON = 'x-gitstead-passed-on'

const HEALTH = '/-/health'

const PURPOSE = 'requests between machines'
/** Milliseconds in the time of the database. A request with rights of its own may not be repeated within this time. */
export const VALID_MS = 600_000
/** Milliseconds without a byte in either direction, of a machine that lives. */
const SILENCE_MS = 600_000
/** A server keeps idle connections for longer than this. */
const IDLE_MS = 30_000
const MOST_CONNECTIONS = 1024

const options = { keepAlive: true, maxSockets: MOST_CONNECTIONS, timeout: IDLE_MS }
const agents = { 'http:': new Agent(options), 'https:': new TlsAgent(options) }

interface Signed {
  readonly method: string
  readonly url: string
}

/** Returns the header of a request that is made for a client with this address. */
function passedOnHeader(request: Signed, address: string): string {
  const claim = `${databaseTime(new Date()).getTime()} ${address}`
  return `${claim} ${sign(request, claim)}`
}

/** The signature of a request is checked once, although its address is asked for several times. */
const checked = new WeakMap<IncomingMessage, string | undefined>()

/** Returns the address of the client for which another machine passed on the request; undefined without a valid header. */
export function passedOnFor(request: IncomingMessage): string | undefined {
  const header = request.headers[PASSED_ON]
  if (typeof header !== 'string') return undefined
  if (!checked.has(request)) checked.set(request, clientIn(header, request))
  return checked.get(request)
}

function clientIn(header: string, request: IncomingMessage): string | undefined {
  const [time = '', address = '', given = ''] = header.split(' ')
  if (Math.abs(databaseTime(new Date()).getTime() - Number(time)) > VALID_MS) return undefined
  const wanted = Buffer.from(sign(signedOf(request), `${time} ${address}`))
  const shown = Buffer.from(given)
  return shown.length === wanted.length && timingSafeEqual(shown, wanted) ? address : undefined
}

// Fastify rewrites `url`; the line that the other machine sent is in `originalUrl` then.
const signedOf = ({
  method = '',
  url = '',
  originalUrl = url
}: IncomingMessage & { readonly originalUrl?: string }) => ({
  method,
  url: originalUrl
})

const sign = ({ method, url }: Signed, claim: string): string =>
  signature(PURPOSE, `${method} ${url} ${claim}`).toString('base64url')

export interface PeerRequest extends Signed {
  readonly headers?: IncomingHttpHeaders
  /** The address of the client; empty for a request of the machine itself. */
  readonly client?: string
  readonly signal?: AbortSignal
}

/** Begins a request to the server of another machine. The caller ends it, and listens for its errors: PeerSilent is one. */
export function askPeer(
  address: string,
  { method, url, headers = {}, client = '', signal }: PeerRequest
): ClientRequest {
  const target = new URL(address)
  const isTls = target.protocol === 'https:'
  const [begin, agent] = isTls ? [sendTls, agents['https:']] : [send, agents['http:']]
  const server = { host: target.hostname.replace(/^\[|\]$/g, ''), port: target.port || (isTls ? 443 : 80) }
  const request = begin({
    ...server,
    ...(signal && { signal }),
    agent,
    method,
    path: url,
    headers: { ...headers, [PASSED_ON]: passedOnHeader({ method, url }, client) },
    timeout: SILENCE_MS
  })
  endWhenSilent(address, request, () => begin({ ...server, agent: false, path: HEALTH }))
  return request
}
