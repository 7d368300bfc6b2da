// The responses of operations besides their results: the failures, as plugins/errors.ts writes them, and the headers of
// lists. Operations refer to them by name.

const text = (description: string) => ({ type: 'string', description })

const texts = (description: string) => ({ type: 'array' as string | string[], items: { type: 'string' }, description })

/** The bodies of failures. */
export const errorSchemas = {
  Error: {
    type: 'object',
    description: 'Why the request failed.',
    required: ['message'],
    properties: { message: text('the status and the reason, such as `404 Project Not Found`') }
  },
  TokenError: {
    type: 'object',
    description: 'What is wrong with an OAuth token.',
    required: ['error', 'error_description'],
    properties: {
      error: text('`invalid_token` when it expired or was revoked, `insufficient_scope` when it lacks a scope'),
      error_description: text('the reason'),
      scope: text('the scopes that allow the request, separated by spaces; one of them is enough')
    }
  },
  ParameterError: {
    type: 'object',
    description: 'What is wrong with the parameters or the request.',
    required: ['message'],
    properties: {
      message: text('the reason, such as `400 (Bad request) "title" not given`'),
      error: text('the same in short, such as `title is missing`')
    }
  },
  ErrorList: {
    type: 'object',
    description: 'What is wrong, as a list of texts.',
    required: ['message'],
    properties: {
      message: { ...texts('the reasons'), type: ['array', 'string'] },
      error: texts('the same')
    }
  },
  ValidationError: {
    type: 'object',
    description: 'Values that the record does not accept.',
    required: ['message'],
    properties: { message: { $ref: '#/components/schemas/ValidationMessages' } }
  },
  ValidationMessages: {
    type: 'object',
    description:
      'What is wrong, by attribute, such as `{"email": ["has already been taken"]}`; of boards also one text as `error`.',
    additionalProperties: { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'string' }] }
  }
}

const answer = (description: string, ...bodies: (keyof typeof errorSchemas)[]) => {
  const refs = bodies.map(body => ({ $ref: `#/components/schemas/${body}` }))
  const schema = refs.length > 1 ? { anyOf: refs } : refs[0]
  return { description, ...(schema && { content: { 'application/json': { schema } } }) }
}

const retryAfter = { 'Retry-After': { description: 'seconds to wait', schema: { type: 'integer' } } }

const location = { Location: { description: 'a URL that works for a short time', schema: { type: 'string' } } }

export const errorResponses = {
  FoundElsewhere: { ...answer('The file is in the bucket (`storage.s3.direct_downloads`).'), headers: location },
  NotModified: answer('The record already has the requested state, or the client has its current version.'),
  BadRequest: answer(
    'A parameter is missing or wrong, or the record does not accept a value.',
    'ValidationError',
    'ParameterError'
  ),
  Unauthorized: answer('The credentials are missing or wrong.', 'Error', 'TokenError'),
  Forbidden: answer('The user may not do this.', 'Error', 'TokenError'),
  NotFound: answer('There is no such record, or the client may not see it.', 'Error'),
  NotAllowed: answer('The state of the record does not allow this.', 'Error'),
  NotAcceptable: answer('The record is already closed.', 'Error'),
  Conflict: answer(
    'Another record has this value, or the record has changed in the meantime.',
    'Error',
    'ValidationError',
    'ErrorList'
  ),
  TooLarge: answer('The request or the file is too large.', 'Error'),
  TooLong: answer('A part of the path is too long.', 'Error'),
  UnreadableType: answer('The body has an unsupported type, or is compressed.', 'Error'),
  RangeNotSatisfiable: answer('The file has none of the requested bytes.', 'Error'),
  Unprocessable: answer('The request is well-formed but not possible.', 'ParameterError', 'ErrorList'),
  TooManyRequests: { ...answer('Too many requests: try again later.', 'Error'), headers: retryAfter }
}

const NAMES = {
  302: 'FoundElsewhere',
  304: 'NotModified',
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'NotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  413: 'TooLarge',
  414: 'TooLong',
  415: 'UnreadableType',
  416: 'RangeNotSatisfiable',
  422: 'Unprocessable',
  429: 'TooManyRequests'
} as const satisfies { [status: number]: keyof typeof errorResponses }

/** A failure that an operation may name. */
export type ErrorStatus = keyof typeof NAMES

/** The response of a failure. */
export const errorResponse = (status: ErrorStatus) => ({ $ref: `#/components/responses/${NAMES[status]}` })

const header = (type: string, description: string) => ({ description, schema: { type } })

/** The headers of a page of a list, as plugins/paging.ts sets them. */
export const pageHeaders = {
  Link: header('string', 'URLs of other pages: `prev`, `next`, `first` and `last`'),
  'X-Total': header('integer', 'number of items on all pages'),
  'X-Total-Pages': header('integer', 'number of pages'),
  'X-Per-Page': header('integer', 'maximum number of items on a page'),
  'X-Page': header('integer', 'number of this page, from 1'),
  'X-Next-Page': header('string', 'number of the next page; empty on the last page'),
  'X-Prev-Page': header('string', 'number of the previous page; empty on the first page')
}

export const pageHeaderRefs = Object.fromEntries(
  Object.keys(pageHeaders).map(name => [name, { $ref: `#/components/headers/${name}` }])
)
