// What the answers of both protocols have in common. Runners compare their headers and types literally.

/** The largest request with a piece of a trace, or with a whole one from an old runner. */
export const TRACE_LIMIT = 8_388_608

/** The token of a call: a parameter comes before the header. */
export function shownToken(named: unknown, header: string | string[] | undefined): string | undefined {
  const given = (named as { readonly token?: string } | undefined | null)?.token
  return given ?? (typeof header === 'string' ? header : undefined)
}

/**
 * A runner shows the value of this header of its last answer again, as `last_update`. The answer to a runner that asks in vain
 * is the only one with it.
 */
export const LAST_UPDATE = 'x-gitlab-last-update'

const JSON_TYPE = 'application/json'

interface TypedReply {
  getHeader(name: 'content-type'): unknown
  type(name: string): unknown
}

/** A hook that runs before an answer is sent: runners before 1.10 take no document whose type has a charset. */
export function answerPlainJson(_request: unknown, reply: TypedReply, _payload: unknown, done: () => void): void {
  if (String(reply.getHeader('content-type')).startsWith(JSON_TYPE)) reply.type(JSON_TYPE)
  done()
}

/** How much of a trace is there. It is a count: runners go on from the number after the dash. */
export const rangeOf = (size: number) => `0-${size}`
