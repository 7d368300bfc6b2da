// Who a person is, from the claims of a provider and the settings. Pure: no requests, no users.
import type { OidcSettings } from '../config/oidc.js'
import { levelsIn } from '../lib/grants.js'
import type { Claims } from './flow.js'

export interface Described {
  readonly username: string
  readonly name: string
  readonly email: string
  readonly emailVerified: boolean
  readonly admin?: boolean
  readonly external?: boolean
  readonly groups: ReadonlyMap<string, number>
}

/** A person may have so many groups at the provider; further ones are ignored. */
const MOST_VALUES = 10_000

export function describe(claims: Claims, settings: OidcSettings): Described {
  const { claims: names, admin, external, members } = settings
  const email = textOf(claims, names.email)
  const groups = valuesOf(claims, names.groups)
  return {
    username: textOf(claims, names.username),
    name: textOf(claims, names.name),
    email,
    emailVerified: isVerified(claims, email, settings),
    ...(admin.values.length > 0 && { admin: hasAny(claims, admin.claim ?? names.groups, admin.values) }),
    ...(external.values.length > 0 && { external: hasAny(claims, external.claim ?? names.groups, external.values) }),
    // Also without any: a line that the operator has removed must end what it gave.
    groups: levelsIn(members, group => groups.has(group))
  }
}

/** Returns whether somebody may sign in at all. */
export const isAllowed = (claims: Claims, { allowed_groups: groups, claims: names }: OidcSettings): boolean =>
  groups.length === 0 || hasAny(claims, names.groups, groups)

/** Returns whether a person with this address may get an account. */
export function isAllowedAddress(email: string, { allowed_domains: domains }: OidcSettings): boolean {
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
  return domains.length === 0 || domains.includes(domain)
}

/** The provider says so. Settings may also trust a provider that never says anything about it, but never against its word. */
function isVerified(claims: Claims, email: string, { trust_email: trusts }: OidcSettings): boolean {
  const { email_verified: verified, email: standard } = claims
  if (email === '') return false
  if (verified === undefined) return trusts
  // Some providers send it as text. It is about the standard claim, whatever claim the settings name.
  return (verified === true || verified === 'true') && standard === email
}

/** The value of a claim, or of a claim within others: `realm_access.roles`. */
function claimOf(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let value: unknown = claims
  for (const key of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Claims)[key]
  }
  return value
}

function textOf(claims: Claims, name: string): string {
  const value = claimOf(claims, name)
  return typeof value === 'string' ? value : ''
}

/** The texts of a claim that is a list or one text. A flag counts as `true` or `false`. */
function valuesOf(claims: Claims, name: string): ReadonlySet<string> {
  const value = claimOf(claims, name)
  const list = Array.isArray(value) ? value.slice(0, MOST_VALUES) : [value]
  return new Set(list.filter(item => typeof item === 'string' || typeof item === 'boolean').map(String))
}

function hasAny(claims: Claims, name: string, wanted: readonly string[]): boolean {
  const values = valuesOf(claims, name)
  return wanted.some(value => values.has(value))
}
