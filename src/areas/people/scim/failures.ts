// Failures of SCIM, in the form of RFC 7644, 3.12.
import { isDatabaseAway, isRetriable } from '../../../db/connect/failure.js'
import {
  BadParameters,
  Conflict,
  Failure,
  Forbidden,
  Invalid,
  NotFound,
  TooLarge,
  TooManyRequests,
  Unauthorized,
  Unavailable,
  UnreadableType
} from '../../../errors.js'
import { OtherVersion } from './versions.js'

export const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error'

/** The reasons that RFC 7644 names in table 9. */
export type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'

/** A request that the directory must change. */
export class ScimFailure extends Failure {
  constructor(
    readonly scimType: ScimType,
    detail: string
  ) {
    super(detail)
  }
}

export interface ScimError {
  readonly schemas: readonly string[]
  readonly status: string
  readonly scimType?: ScimType
  readonly detail: string
}

interface Answer {
  readonly status: number
  readonly scimType?: ScimType
  readonly detail: string
  readonly retryAfter?: number
}

/** Returns the body for a failure; undefined for a fault of the program. */
export function scimError(error: unknown): { body: ScimError; status: number; retryAfter?: number } | undefined {
  const found = answerOf(error)
  if (!found) return undefined
  const { status, scimType, detail, retryAfter } = found
  return {
    status,
    ...(retryAfter !== undefined && { retryAfter }),
    body: { schemas: [ERROR], status: String(status), ...(scimType && { scimType }), detail }
  }
}

function answerOf(error: unknown): Answer | undefined {
  if (error instanceof ScimFailure) {
    return { status: error.scimType === 'uniqueness' ? 409 : 400, scimType: error.scimType, detail: error.message }
  }
  if (error instanceof Failure) return answerFailure(error)
  if (isDatabaseAway(error)) return { status: 503, detail: 'the database is not available', retryAfter: 2 }
  if (isRetriable(error)) return { status: 503, detail: 'others change the same records', retryAfter: 2 }
  return answerFramework(error as { readonly statusCode?: number; readonly message: string })
}

function answerFailure(error: Failure): Answer | undefined {
  const detail = error.message
  if (error instanceof Unauthorized)
    return { status: 401, detail: 'The bearer token is missing, wrong, expired or revoked' }
  if (error instanceof Forbidden) return { status: 403, detail: error.reason ?? detail }
  if (error instanceof OtherVersion) return { status: 412, detail }
  if (error instanceof NotFound) return { status: 404, detail: 'No such resource' }
  if (error instanceof Conflict) return { status: 409, scimType: 'uniqueness', detail }
  if (error instanceof Invalid) return { status: 400, scimType: 'invalidValue', detail }
  if (error instanceof BadParameters) return { status: 400, scimType: 'invalidValue', detail: error.error }
  if (error instanceof UnreadableType) return { status: 415, detail }
  if (error instanceof TooLarge) return { status: 413, detail }
  if (error instanceof TooManyRequests) return { status: 429, detail, retryAfter: error.retryAfter }
  if (error instanceof Unavailable) return { status: 503, detail, retryAfter: error.retryAfter }
  return { status: 400, scimType: 'invalidSyntax', detail }
}

/** Errors that Fastify finds before a handler gets the request. Its texts may repeat parts of the request, so they are not used. */
function answerFramework({ statusCode = 500 }: { readonly statusCode?: number }): Answer | undefined {
  if (statusCode === 413) return { status: 413, detail: 'The body is too large' }
  if (statusCode === 415) return { status: 415, detail: 'The body must be application/scim+json or application/json' }
  if (statusCode < 400 || statusCode >= 500) return undefined
  return { status: statusCode, scimType: 'invalidSyntax', detail: 'The request cannot be read' }
}
