import type { TokenRow } from './tokens.queries.js'

/** The state of a token now, by the same condition as the lists. */
export function stateOf({ revoked_at, expires_at }: Pick<TokenRow, 'revoked_at' | 'expires_at'>) {
  if (revoked_at !== null) return 'revoked'
  return expires_at === null || expires_at.getTime() > Date.now() ? 'active' : 'expired'
}

/** The day (UTC) at whose beginning a token ends; null when it does not end. */
export const endOf = ({ expires_at }: Pick<TokenRow, 'expires_at'>): string | null =>
  expires_at?.toISOString().slice(0, 10) ?? null
