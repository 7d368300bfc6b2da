// The section `identity` of the configuration: how people sign in.
import { Entries, flag, integer, listOf, oneOf, text } from '../lib/rules.js'
import { LDAP, LDAP_DEFAULTS } from './ldap.js'
import { OIDC, OIDC_DEFAULTS } from './oidc.js'
import { SCIM } from './scim.js'

/** Providers of OpenID Connect. The name of an entry is the provider of the identities of its users. */
const oidc = new Entries(OIDC, OIDC_DEFAULTS)

/** Directories. The name of an entry is the provider of the identities of its users. */
const ldap = new Entries(LDAP, LDAP_DEFAULTS)

/** Passwords of this appliance. */
const passwords = {
  min_length: integer(8, 128),
  strength: integer(0, 4),
  strength_for: oneOf(['people', 'everyone']),
  local: flag,
  local_for: listOf(text())
}

/** How accounts begin and end. */
const accounts = { approval: flag, dormant_days: integer(0, 3650), invitations: flag, invited_sign_up: flag }

/** Who must have a second factor at the sign-in. */
const two_factor = {
  required: oneOf(['nobody', 'administrators', 'everyone']),
  /** Paths of groups whose members must have one. */
  groups: listOf(text(/^[A-Za-z0-9_.-]+$/, 'paths of groups')),
  /** People may still work for so long before they must set it up. */
  grace_days: integer(0, 365),
  /** False: the providers of OpenID Connect check the factors of their people. */
  after_provider: flag,
  /** Whether a passkey signs in without a password. */
  passkey_sign_in: flag
}

export const IDENTITY = { oidc, ldap, passwords, accounts, two_factor, scim: SCIM }
