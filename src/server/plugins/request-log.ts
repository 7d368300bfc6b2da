// Every request has an id: in the header X-Request-Id of its answer, and in all lines that it logs. With `log.requests`,
// each request also logs a line about itself.
import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { PASSED_ON } from '../../cluster/peers.js'
import { config } from '../../config.js'
import { requestScope } from '../../lib/request-scope.js'
import { log } from '../../log.js'
import { clientOf } from '../client-address.js'

/** The id of a proxy or client is kept when it cannot be mistaken for something else in a log line. */
const FOREIGN = /^[\w.+/=@:-]{1,64}$/

// Random bytes for each request would take longer than finding its route.
const prefix = randomBytes(6).toString('base64url')
let last = 0

/** Returns the id of a new request. */
export function requestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id']
  if (typeof given === 'string' && FOREIGN.test(given)) return given
  return `${prefix}-${(++last).toString(36)}`
}

/**
 * Adds the id to log lines and answers, notes for whom the code runs, and logs requests. Register it first, so that every
 * line has the id.
 */
export function logRequests(app: FastifyInstance): void {
  const { requests } = config().log
  app.addHook('onRequest', (request, { raw }, done) => {
    const atEnd = (call: () => void) => void (raw.destroyed ? call() : raw.once('close', call))
    const isPassedOn = request.headers[PASSED_ON] !== undefined
    requestScope.run({ request: request.id, client: clientOf(request), isPassedOn, atEnd }, done)
  })
  app.addHook('onSend', ({ id }, reply, _payload, done) => {
    reply.header('x-request-id', id)
    done()
  })
  if (requests === 'off') return
  app.addHook('onResponse', (request, reply, done) => {
    if (requests === 'all' || reply.statusCode >= 500) logRequest(request, reply)
    done()
  })
}

/** Does the same for a request that reaches no hook, because its URL is wrong. Call it before the answer is sent. */
export function logUnroutable(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id)
  if (config().log.requests === 'all') reply.raw.once('close', () => logRequest(request, reply))
}

function logRequest({ id, method, routeOptions, actor }: FastifyRequest, { statusCode, elapsedTime }: FastifyReply) {
  // The URL itself may contain a token.
  const route = routeOptions?.url ?? 'unknown'
  const ms = Math.round(elapsedTime * 10) / 10
  const user = actor?.user?.username ?? null
  log().info({ request: id, method, route, status: statusCode, ms, user }, 'request')
}
