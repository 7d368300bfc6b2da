import type { LdapSettings } from '../config/ldap.js'

/** A directory of the configuration: identity.ldap.NAME. */
export interface Directory extends LdapSettings {
  readonly name: string
}

/** Returns how pages and messages name a directory. */
export const labelOf = ({ label, name }: Directory): string => label ?? name
