import type { TokenRow } from './tokens.queries.js'

/** Returns the current state of a token, by the same condition as the lists. */
export function stateOf({ revoked_at, expires_at }: Pick<TokenRow, 'revoked_at' | 'expires_at'>) {
  if (revoked_at !== null) return 'revoked'
  return expires_at === null || expires_at.getTime() > Date.now() ? 'active' : 'expired'
}

/** Returns the day (UTC) at the beginning of which a token expires; null for a token that does not expire. */
export const endOf = ({ expires_at }: Pick<TokenRow, 'expires_at'>): string | null =>
  expires_at?.toISOString().slice(0, 10) ?? null
