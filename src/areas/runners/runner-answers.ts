// Bytes of a trace and of archives. Runners tell their ends by headers whose names differ between the protocols.

/** The largest request with a piece of a trace, or with a whole one from an old runner. */
export const TRACE_LIMIT = 8_388_608

/** The token of a call: a parameter comes before the header. */
export function shownToken(named: unknown, header: string | string[] | undefined): string | undefined {
  const given = (named as { readonly token?: string } | undefined | null)?.token
  return given ?? (typeof header === 'string' ? header : undefined)
}

/** How much of a trace is there. It is a count: runners go on from the number after the dash. */
export const rangeOf = (size: number) => `0-${size}`
