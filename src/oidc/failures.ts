// What goes wrong with a provider, in words for the person who signs in. The cause is for the operator, and for the log.
import { Failure, Unavailable } from '../errors.js'

/** The provider does not answer, or only with errors of its own. */
export class ProviderAway extends Unavailable {
  constructor(
    label: string,
    /** In one line, for the operator. */
    readonly reason: string
  ) {
    super(`${label} does not answer. Try again in a minute, or sign in in another way`, 10)
  }
}

/** The provider refuses, or answers with something that proves nothing. */
export class ProviderRefusal extends Failure {
  constructor(
    text: string,
    /** In one line, for the operator. */
    readonly reason: string
  ) {
    super(text)
  }
}

/** No answer, an answer that is too large, or an error of the provider itself. */
export class NoAnswer extends Error {}

interface Described {
  readonly message?: string
  readonly code?: string
  readonly error?: string
  readonly cause?: unknown
}

/** An error with everything that caused it, the outermost first. */
function chainOf(error: unknown): Described[] {
  const chain: Described[] = []
  for (
    let next = error;
    typeof next === 'object' && next !== null && chain.length < 8;
    next = (next as Described).cause
  ) {
    chain.push(next as Described)
  }
  return chain
}

/** Returns the error for the person, of an error of openid-client. */
export function translated(error: unknown, label: string): Failure {
  if (error instanceof Failure) return error
  const chain = chainOf(error)
  const silence = chain.find(each => each instanceof NoAnswer)
  if (silence) return new ProviderAway(label, silence.message)
  const reason = reasonOf(chain)
  if (chain.some(({ code }) => code === 'OAUTH_TIMEOUT')) return new ProviderAway(label, reason)
  const refusal = chain.find(({ error: code }) => typeof code === 'string' && /^[a-z_]{1,64}$/.test(code))?.error
  if (refusal === 'access_denied') return new ProviderRefusal(`${label} did not let you sign in`, reason)
  if (refusal === 'invalid_grant') return new ProviderRefusal('This sign-in has expired, or was used before', reason)
  if (refusal !== undefined) return new ProviderRefusal(`${label} refuses the sign-in (${refusal})`, reason)
  return new ProviderRefusal(`The answer of ${label} proves nothing, so you are not signed in`, reason)
}

/** The messages of a chain in one line, without values from the answer of the provider. */
function reasonOf(chain: readonly Described[]): string {
  const texts = chain.flatMap(each => (each instanceof Error ? [each.message, (each as Described).error] : []))
  return [...new Set(texts)]
    .join(': ')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .slice(0, 300)
}
