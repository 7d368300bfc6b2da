// The keys of one provider of OpenID Connect, identity.oidc.NAME.
import { flag, integer, listOf, nullOr, oneOf, type Problem, text, type ValuesOf } from '../lib/rules.js'

const line = text(/^\P{Cc}+$/u, 'text on one line')
const claim = text(/^\S{1,100}$/, 'the name of a claim')

/** `VALUE -> GROUP as LEVEL`: people with this value in the claim of groups are members of the group. */
const GRANT = /^(\P{Cc}+) -> ([\w.-]+) as (guest|reporter|developer|master|owner)$/u

export const OIDC = {
  label: nullOr(text(/^\P{Cc}{1,60}$/u, 'text on one line of at most 60 characters')),
  issuer: text(/^https?:\/\/[^\s?#]+$/, 'an http or https URL'),
  ca: nullOr(text(/^\//, 'the absolute path of a file')),
  client_id: line,
  client_secret: nullOr(line),
  client_auth: nullOr(oneOf<'basic' | 'post'>(['basic', 'post'])),
  scopes: listOf(text(/^[!#-[\]-~]+$/, 'scopes such as email'), 1),
  create: flag,
  approval: flag,
  allowed_domains: listOf(text(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, 'domains in lower case, such as example.org')),
  allowed_groups: listOf(line),
  trust_email: flag,
  claims: { username: claim, name: claim, email: claim, groups: claim },
  admin: { claim: nullOr(claim), values: listOf(line) },
  external: { claim: nullOr(claim), values: listOf(line) },
  members: listOf(text(GRANT, 'texts such as "engineers -> backend as developer"')),
  end_session: flag,
  clock_skew: integer(0, 600),
  timeout: integer(1, 30)
}

export type OidcSettings = ValuesOf<typeof OIDC>

export const OIDC_DEFAULTS = {
  label: null,
  ca: null,
  client_secret: null,
  client_auth: null,
  scopes: ['openid', 'profile', 'email'],
  create: true,
  approval: false,
  allowed_domains: [],
  allowed_groups: [],
  trust_email: false,
  claims: { username: 'preferred_username', name: 'name', email: 'email', groups: 'groups' },
  admin: { claim: null, values: [] },
  external: { claim: null, values: [] },
  members: [],
  end_session: false,
  clock_skew: 30,
  timeout: 10
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Providers on this machine may do without TLS. */
export const isLoopback = (issuer: string): boolean => LOOPBACK.test(new URL(issuer).hostname)

/** Returns the contradictions in the providers of a configuration. */
export function oidcProblems(
  providers: { readonly [name: string]: OidcSettings },
  directories: { readonly [name: string]: unknown }
): Problem[] {
  return Object.entries(providers).flatMap(([name, settings]) => {
    const path = `identity.oidc.${name}`
    const found: Problem[] = problemsOf(settings).map(([key, why]) => ({
      path: `${path}.${key}`,
      text: `${path}.${key} ${why}`
    }))
    if (Object.hasOwn(directories, name)) {
      found.push({ path, text: `${path} has the name of a directory, identity.ldap.${name}: choose another one` })
    }
    return found
  })
}

function problemsOf({ issuer, scopes, client_secret, client_auth }: OidcSettings): [key: string, why: string][] {
  const found: [string, string][] = []
  if (!URL.canParse(issuer)) return [['issuer', `must be a URL (it is ${issuer})`]]
  const { protocol, username, password } = new URL(issuer)
  if (protocol !== 'https:' && !isLoopback(issuer)) {
    found.push(['issuer', `must be an https URL, except on this machine (it is ${issuer})`])
  }
  if (username !== '' || password !== '') found.push(['issuer', 'must be a URL without a user and a password'])
  if (!scopes.includes('openid')) found.push(['scopes', 'must contain openid'])
  if (client_auth !== null && client_secret === null) found.push(['client_auth', 'needs a client_secret'])
  return found
}
