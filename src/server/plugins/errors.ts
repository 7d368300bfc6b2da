// Turns named failures into the bodies of the requirement ("Errors"). No other file builds an error body.
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isDatabaseAway, isRetriable } from '../../db/connect/failure.js'
import * as errors from '../../errors.js'
import { GitAway, GitLimit, GitTimeout } from '../../git/process/run.js'
import { isDiskFull } from '../../lib/disk-full.js'
import { log } from '../../log.js'
import { sendMissing, wantsPage } from '../pages/missing.js'
import { passOnAfter } from '../pass-on.js'
import { methodsOf } from './methods.js'
import { logUnroutable } from './request-log.js'

interface Answer {
  readonly status: number
  readonly body?: unknown
  readonly retryAfter?: number
  /** The challenge that RFC 6750 requires with a wrong token. */
  readonly authenticate?: string
  readonly contentRange?: string
  readonly location?: string
}

/** Installs the error handler and the handler for unknown paths. */
export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof errors.NotHere) return answerThere(error, request, reply)
    // A body that cannot be read has no credentials, and credentials come before all other problems.
    const unknown = request.awaitsCredentials && isOfClient(error)
    return send(reply, answerTo(unknown ? new errors.Unauthorized() : error, request))
  })
  app.setNotFoundHandler((request, reply) => {
    const methods = methodsOf(app, request)
    // A browser that is started again opens the address of a form that it had sent.
    if (methods.length === 0 || wantsPage(request)) return sendMissing(request, reply)
    reply.header('allow', methods.join(', '))
    if (request.method === 'OPTIONS') return reply.code(204).send()
    return send(reply, { status: 405, body: { error: '405 Not Allowed' } })
  })
}

/** Lets the machine that has the repository answer. */
async function answerThere(error: errors.NotHere, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  try {
    return (await passOnAfter(error, request, reply)) ? reply : send(reply, answerTo(error, request))
  } catch (failure) {
    return send(reply, answerTo(failure, request))
  }
}

/** Answers a request whose URL is so wrong that Fastify cannot look for a route, for example with escapes that are not UTF-8. */
export function answerBadUrl(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  logUnroutable(request, reply)
  send(reply, answerFramework(error) ?? { status: 400, body: { message: '400 Bad Request' } })
}

const isOfClient = (error: unknown): boolean =>
  error instanceof errors.BadRequest || error instanceof errors.TooLarge || !!answerFramework(error as FastifyError)

function send(
  reply: FastifyReply,
  { status, body, retryAfter, authenticate, contentRange, location }: Answer
): FastifyReply {
  // A handler may have sent the version of the content before it failed to read it: a client must not keep the error as this version.
  if (status >= 400 && reply.hasHeader('etag')) reply.removeHeader('etag').removeHeader('cache-control')
  if (contentRange !== undefined) reply.header('content-range', contentRange)
  if (authenticate !== undefined) reply.header('www-authenticate', authenticate)
  // The URL is a credential: no cache keeps it, and no page that it leads to learns it.
  if (location !== undefined) reply.headers({ location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  return body === undefined ? reply.code(status).send() : reply.code(status).type('application/json').send(body)
}

/** Returns the status and the body for an error. */
export function answerTo(error: unknown, request: FastifyRequest): Answer {
  const named = error instanceof errors.Failure ? answerFailure(error) : answerFramework(error as FastifyError)
  if (named) return named
  if (error instanceof GitLimit)
    return { status: 413, body: { message: `413 Request Entity Too Large: ${error.message}` } }
  if (error instanceof GitTimeout) return unavailable('git does not answer in time', 10)
  if (error instanceof GitAway) return unavailable(GitAway.reason)
  if (isDiskFull(error)) return diskFull()
  if (isDatabaseAway(error)) return unavailable('the database is not available')
  // Many requests change the same records at once, and this one lost each time.
  if (isRetriable(error)) return unavailable('others change the same records')
  log().error({ error, request: request.id, method: request.method, route: request.routeOptions.url }, 'request failed')
  return { status: 500, body: { message: '500 Internal Server Error' } }
}

const unavailable = (text: string, retryAfter = 2): Answer => ({
  status: 503,
  retryAfter,
  body: { message: `503 Service Unavailable - ${text}` }
})

/** Not specified: the state tells programs why files are unavailable. */
const away = ({ message, retryAfter, state }: errors.BucketUnavailable): Answer => {
  const answer = unavailable(message, retryAfter)
  return { ...answer, body: { ...(answer.body as object), error: state } }
}

const diskFull = (): Answer => {
  const { message } = new errors.DiskFull()
  return { status: 507, body: { message: `507 Insufficient Storage - ${message}` } }
}

function answerFailure(error: errors.Failure): Answer | undefined {
  const { message } = error
  if (error instanceof errors.BadParameters) return { status: 400, body: { message, error: error.error } }
  if (error instanceof errors.Invalid) return { status: 400, body: { message: error.errors } }
  if (error instanceof errors.RefusedText) return { status: 400, body: { message: { error: message } } }
  if (error instanceof errors.BadRequest) return { status: 400, body: { message } }
  if (error instanceof errors.InvalidToken) {
    const body = { error: 'invalid_token', error_description: message }
    return { status: 401, body, authenticate: challenge(body.error) }
  }
  // Decided: OAuth errors are 401.
  if (error instanceof errors.OAuthRefusal) {
    return { status: 401, body: { error: error.error, error_description: message } }
  }
  if (error instanceof errors.InsufficientScope) {
    const scope = error.scopes.join(' ')
    const body = { error: 'insufficient_scope', error_description: message, scope }
    return { status: 403, body, authenticate: challenge(body.error) }
  }
  if (error instanceof errors.Unauthorized) return { status: 401, body: { message } }
  if (error instanceof errors.ProjectLimit) return { status: 403, body: { message, error: [message] } }
  if (error instanceof errors.Forbidden) return { status: 403, body: { message } }
  if (error instanceof errors.NotFound) return { status: 404, body: { message } }
  if (error instanceof errors.NothingThere) return { status: 404, body: { message } }
  if (error instanceof errors.NotAllowed) return { status: 405, body: { message } }
  if (error instanceof errors.NotAcceptable) return { status: 406, body: { message } }
  if (error instanceof errors.UpdateConflict) return { status: 404, body: { message } }
  if (error instanceof errors.ConflictingValues) return { status: 409, body: { message: error.errors } }
  if (error instanceof errors.Conflicts) return { status: 409, body: { message: error.texts } }
  if (error instanceof errors.Conflict) return { status: 409, body: { message } }
  if (error instanceof errors.TooLarge) return { status: 413, body: { message } }
  if (error instanceof errors.RangeNotSatisfiable) {
    return { status: 416, contentRange: `bytes */${error.size}`, body: { message } }
  }
  if (error instanceof errors.UnreadableType) return { status: 415, body: { message } }
  if (error instanceof errors.UnprocessableList) return { status: 422, body: { message, error: error.texts } }
  if (error instanceof errors.Unprocessable) return { status: 422, body: { message, error: message } }
  if (error instanceof errors.TooManyRequests) return { status: 429, retryAfter: error.retryAfter, body: { message } }
  if (error instanceof errors.FoundElsewhere) return { status: 302, location: error.url }
  if (error instanceof errors.NotModified) return { status: 304 }
  if (error instanceof errors.DiskFull) return diskFull()
  // Not specified: the text names the value, because only setting it again repairs it.
  if (error instanceof errors.Undecryptable) {
    return { status: 500, body: { message: `500 Internal Server Error - ${message}` } }
  }
  if (error instanceof errors.BucketUnavailable) return away(error)
  if (error instanceof errors.StorageAway) {
    log().error({ error: message }, 'a storage of repositories is away')
    return unavailable('the repositories of this storage cannot be reached', error.retryAfter)
  }
  if (error instanceof errors.Unavailable) return unavailable(message, error.retryAfter)
  return undefined
}

const challenge = (error: string) => `Bearer realm="Gitstead", error="${error}"`

/** Fastify repeats the whole URL, which may contain a token. */
const OWN_WORDS: Readonly<Record<string, string>> = {
  FST_ERR_BAD_URL: 'The URL has escapes that are not UTF-8',
  FST_ERR_MAX_PARAM_LENGTH: 'A part of the path is longer than 1024 characters'
}

/** Answers errors that Fastify itself finds in a request before a handler gets it. */
function answerFramework(error: FastifyError): Answer | undefined {
  const { statusCode } = error
  if (statusCode === undefined || statusCode < 400 || statusCode >= 500) return undefined
  if (statusCode === 413) return { status: 413, body: { message: '413 Request Entity Too Large' } }
  const own = OWN_WORDS[error.code]
  if (own !== undefined) return { status: statusCode, body: { message: `${statusCode} ${own}` } }
  return { status: statusCode, body: { message: `${statusCode} ${error.message}` } }
}
