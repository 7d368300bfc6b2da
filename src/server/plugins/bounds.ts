// Limits what one client can make the server hold: open requests, and bodies that are read or worked on. A body that does
// not arrive in time ends its connection.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { config } from '../../config.js'
import { BadRequest, TooLarge, TooManyRequests, Unavailable } from '../../errors.js'
import { STATUS_CODES } from '../../lib/node-http.js'
import { currentClient } from '../../lib/request-scope.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler passes the body on while it arrives, and limits its time itself. */
    readonly streams?: true
  }
}

/** The largest body of an ordinary request, in bytes. Routes that take files have a `bodyLimit` of their own. */
export const BODY_LIMIT = 1_048_576

/** How often Node.js looks for connections whose headers or bodies are late. */
export const CHECK_MS = 1000
/** Headers are small: they take seconds even on a bad line. */
export const HEADERS_MS = 20_000

/** One address may use the memory for bodies divided by this number, so that it cannot keep out all others. */
const SHARE = 2
const RETRY_S = 1

interface Client {
  requests: number
  bytes: number
}

/** Refuses requests and bodies beyond the limits. Register it before all expensive hooks, but after those that note the client. */
export function boundRequests(app: FastifyInstance): void {
  const { requests_per_address: most, body_memory: memory } = config().http
  const clients = new Map<string, Client>()
  let bytes = 0

  app.server.on('checkExpectation', refuseExpectation)
  app.addHook('onRequest', (request, reply, done) => {
    const { httpVersion, headers } = request.raw
    // Node.js would refuse it without a body.
    if (headers.host === undefined && httpVersion === '1.1')
      return done(new BadRequest('400 (Bad request) the header Host is missing'))
    const name = currentClient()
    const client = clients.get(name) ?? { requests: 0, bytes: 0 }
    if (client.requests >= most) {
      return done(new TooManyRequests(RETRY_S, `more than ${most} open requests from one address`))
    }
    if (client.requests++ === 0) clients.set(name, client)
    reply.raw.once('close', () => {
      if (--client.requests === 0) clients.delete(name)
    })
    if (request.routeOptions.config.streams) streaming.set(request.raw.socket, request.raw)
    done()
  })

  app.addHook('preParsing', (request, reply, _payload, done) => {
    const size = bodySize(request)
    if (size === 0 || request.routeOptions.config.streams) return done()
    const { bodyLimit } = request.routeOptions
    if (size > bodyLimit) return done(new TooLarge(tooLarge(bodyLimit)))
    const share = mostOfBody()
    if (size > share) return done(new TooLarge(`${tooLarge(share)} (half of http.body_memory)`))
    const client = clients.get(currentClient())
    if (client) {
      if (client.bytes + size > share) return done(new TooManyRequests(RETRY_S, 'too many large bodies at once'))
      if (bytes + size > memory) return done(new Unavailable('too many large bodies at once', RETRY_S))
      hold(client, size, reply)
    }
    done()
  })

  function hold(client: Client, size: number, reply: FastifyReply): void {
    client.bytes += size
    bytes += size
    reply.raw.once('close', () => {
      client.bytes -= size
      bytes -= size
    })
  }
}

/** The text for a body of more than `limit` bytes. */
export const tooLarge = (limit: number) => `413 Request Entity Too Large - a body has at most ${limit} bytes`

/** Returns how many bytes the body may have. Without a declared length, this is the limit of the route. */
function bodySize({ headers, routeOptions }: FastifyRequest): number {
  const length = headers['content-length']
  if (length !== undefined) return Number(length)
  return headers['transfer-encoding'] === undefined ? 0 : Math.min(routeOptions.bodyLimit, mostOfBody())
}

/** Returns the size of the largest body that the server reads, whatever limit a route has. */
const mostOfBody = () => Math.floor(config().http.body_memory / SHARE)

/** Returns how many bytes the body of this request may have. */
export const bodyLimitOf = ({ routeOptions }: FastifyRequest) => Math.min(routeOptions.bodyLimit, mostOfBody())

/** The requests whose bodies may take as long as their handlers allow, by connection. */
const streaming = new WeakMap<Socket, IncomingMessage>()

/**
 * Answers bytes that Node.js cannot read as a request, and ends late requests: `http.body_timeout` is for the whole body.
 * Node.js checks each request only once, so the handler of a streaming request has to limit its time.
 */
export function endBadConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  if (late && streaming.get(socket)?.complete === false) return
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const status = late ? 408 : error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400
  const { text, headers, body } = bare(status)
  const lines = [...Object.entries(headers), ['Connection', 'close']].map(([name, value]) => `${name}: ${value}`)
  if (socket.writable) socket.write(`HTTP/1.1 ${text}\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
  socket.destroySoon()
}

/** Answers a request with an `Expect` that no server can meet. Node.js would answer it without a body. */
function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const { headers, body } = bare(417)
  response.writeHead(417, headers).end(body)
}

/** An answer that no hook makes. */
function bare(status: number) {
  const text = `${status} ${STATUS_CODES[status]}`
  const body = JSON.stringify({ message: text })
  return { text, headers: { 'Content-Type': 'application/json', 'Content-Length': body.length }, body }
}
