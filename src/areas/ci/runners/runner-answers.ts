// The common parts of the responses of both protocols. Runners compare their headers and types literally.

/** Bytes of the largest request with a chunk of a trace, or with a whole trace from an old runner. */
export const TRACE_LIMIT = 8_388_608

/** Returns the token of a call: a parameter has precedence over the header. */
export function shownToken(named: unknown, header: string | string[] | undefined): string | undefined {
  const parameter = (named as { readonly token?: string } | undefined | null)?.token
  return parameter ?? (typeof header === 'string' ? header : undefined)
}

/** A runner sends the value of this header of its last response again, as `last_update`. Only responses without a build have it. */
export const LAST_UPDATE = 'x-gitlab-last-update'

const JSON_TYPE = 'application/json'

interface TypedReply {
  getHeader(name: 'content-type'): unknown
  type(name: string): unknown
}

/** A hook that runs before a response is sent: runners before 1.10 refuse a document whose type has a charset. */
export function answerPlainJson(_request: unknown, reply: TypedReply, _payload: unknown, done: () => void): void {
  if (String(reply.getHeader('content-type')).startsWith(JSON_TYPE)) reply.type(JSON_TYPE)
  done()
}

/** The stored size of a trace. It is a count: runners continue at the number after the dash. */
export const rangeOf = (size: number) => `0-${size}`
