// The form of the answers of git LFS, and of its questions.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Failure, Forbidden, SecondFactorNeeded, Unauthorized, Unprocessable } from '../../errors.js'
import type { InputSchema } from '../../lib/coerce.js'
import type { Static, TSchema } from '../../lib/type.js'
import { validator } from '../../lib/validate.js'
import { drain } from '../discard-body.js'
import { REALM } from '../git-http.js'
import { answerTo } from '../plugins/errors.js'
import { LfsOff } from './access.js'

const TYPE = 'application/vnd.git-lfs+json'

export const answerLfs = (reply: FastifyReply, body: object, status = 200): FastifyReply =>
  reply.code(status).type(TYPE).header('cache-control', 'no-store').send(JSON.stringify(body))

/** Returns a function that checks the body of a request. It throws Unprocessable. */
export function bodyReader<T extends TSchema>(schema: T): (body: unknown) => Static<T> {
  const check = validator(schema as InputSchema, { exact: true })
  return body => {
    const checked = check(body)
    if (checked.wrong === undefined) return checked.value as Static<T>
    const { wrong } = checked
    const [missing] = wrong.missing
    throw new Unprocessable(
      missing === undefined ? `${wrong.name || 'the body'} ${wrong.problem}` : `${missing} is missing`
    )
  }
}

/** Clients show the message. */
export function answerLfsError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // Nobody reads the answer when the client has left, or was cut off.
  const hasLeft = request.raw.destroyed && !request.raw.complete
  if (hasLeft || reply.raw.destroyed) return reply.code(400).send()
  drain(request.raw)
  const { status, retryAfter, contentRange, location } =
    error instanceof LfsOff ? { status: 501 } : answerTo(error, request)
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  if (contentRange !== undefined) reply.header('content-range', contentRange)
  // The URL is a credential: no cache keeps it.
  if (location !== undefined) return reply.code(status).headers({ location, 'cache-control': 'no-store' }).send()
  if (status === 401) reply.headers({ 'lfs-authenticate': REALM, 'www-authenticate': REALM })
  // The number finds the line in the log.
  return answerLfs(reply, { message: messageOf(error), ...(status >= 500 && { request_id: request.id }) }, status)
}

function messageOf(error: unknown): string {
  if (error instanceof SecondFactorNeeded || !(error instanceof Failure)) return messageOfOther(error)
  if (error instanceof Unauthorized && error.text === '401 Unauthorized') return 'HTTP Basic: access denied'
  return error instanceof Forbidden && error.reason !== undefined ? error.reason : error.message
}

const messageOfOther = (error: unknown): string =>
  error instanceof SecondFactorNeeded
    ? 'Your account needs a second factor to sign in: use a personal access token in place of the password'
    : 'something is wrong here: try again later'
