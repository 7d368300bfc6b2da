// The keys of one directory, identity.ldap.NAME.
import { flag, integer, listOf, nullOr, oneOf, type Problem, text, type ValuesOf } from '../lib/rules.js'

const line = text(/^\P{Cc}+$/u, 'text on one line')
const dn = text(/^[^\p{Cc}=]+=\P{Cc}+$/u, 'a DN such as ou=people,dc=example,dc=org')
const attribute = text(/^[a-zA-Z][a-zA-Z0-9-]{0,63}$/, 'the name of an attribute')
const filter = text(/^\(\P{Cc}+\)$/u, 'a filter in parentheses, such as (objectClass=person)')

/** `DN -> GROUP as LEVEL`: people in the group of the directory are members of the group here. */
const grant = text(
  /^[^\p{Cc}=]+=\P{Cc}+ -> [\w.-]+(\/[\w.-]+)* as (guest|reporter|developer|master|owner)$/u,
  'texts such as "cn=web,ou=groups,dc=example,dc=org -> web/shop as developer"'
)

export const LDAP = {
  label: nullOr(line),
  urls: listOf(text(/^ldaps?:\/\/[^\s/?#@]+\/?$/, 'URLs such as ldaps://ldap.example.org'), 1),
  starttls: flag,
  verify: flag,
  ca: nullOr(text(/^\//, 'the absolute path of a file')),
  bind_dn: nullOr(dn),
  bind_password: nullOr(line),
  base: dn,
  filter,
  attributes: {
    id: attribute,
    username: attribute,
    name: attribute,
    email: attribute,
    member_of: nullOr(attribute),
    ssh_keys: nullOr(attribute)
  },
  groups: {
    base: nullOr(dn),
    filter,
    nested: oneOf<'no' | 'walk' | 'rule'>(['no', 'walk', 'rule']),
    admin: nullOr(dn),
    external: nullOr(dn),
    members: listOf(grant)
  },
  create: oneOf<'sign-in' | 'sync' | 'never'>(['sign-in', 'sync', 'never']),
  trust_email: flag,
  local_passwords: flag,
  max_gone: integer(0, 100),
  page_size: integer(1, 1000),
  connections: integer(1, 100),
  timeout: integer(1, 60)
}

export type LdapSettings = ValuesOf<typeof LDAP>

export const LDAP_DEFAULTS = {
  label: null,
  starttls: true,
  verify: true,
  ca: null,
  bind_dn: null,
  bind_password: null,
  filter: '(objectClass=person)',
  attributes: { id: 'entryUUID', username: 'uid', name: 'cn', email: 'mail', member_of: null, ssh_keys: null },
  groups: {
    base: null,
    filter: '(|(objectClass=group)(objectClass=groupOfNames)(objectClass=groupOfUniqueNames)(objectClass=posixGroup))',
    nested: 'no',
    admin: null,
    external: null,
    members: []
  },
  create: 'sign-in',
  trust_email: true,
  local_passwords: false,
  max_gone: 20,
  page_size: 500,
  connections: 8,
  timeout: 5
}

/** Returns the contradictions in the directories of a configuration. */
export function ldapProblems(directories: { readonly [name: string]: LdapSettings }): Problem[] {
  return Object.entries(directories).flatMap(([name, settings]) => {
    const above = `identity.ldap.${name}`
    return problemsOf(settings).map(([key, why]) => ({ path: `${above}.${key}`, text: `${above}.${key} ${why}` }))
  })
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

function problemsOf({ urls, starttls, bind_dn, bind_password, filter, groups }: LdapSettings): [string, string][] {
  const found: [string, string][] = []
  for (const url of urls) {
    const { protocol, hostname } = new URL(url)
    if (protocol === 'ldaps:' || starttls || LOOPBACK.test(hostname)) continue
    found.push(['starttls', `must be true for ${url}: without it, passwords cross the network unencrypted`])
  }
  if (bind_dn !== null && bind_password === null) {
    found.push(['bind_password', 'must be set with bind_dn: a directory takes an empty password for an anonymous bind'])
  }
  if (bind_dn === null && bind_password !== null) found.push(['bind_dn', 'must be set with bind_password'])
  if (!isBalanced(filter)) found.push(['filter', `has unbalanced parentheses (it is ${filter})`])
  if (!isBalanced(groups.filter)) {
    found.push(['groups.filter', `has unbalanced parentheses (it is ${groups.filter})`])
  }
  return found
}

/** Whether the first parenthesis of a filter is closed at its end and not before. */
function isBalanced(text: string): boolean {
  let open = 0
  for (const [at, character] of [...text].entries()) {
    if (character === '(') open += 1
    if (character === ')') open -= 1
    if (open === 0) return at === [...text].length - 1
  }
  return false
}
