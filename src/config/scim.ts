// The section `identity.scim` of the configuration: directories that manage accounts and groups.
import { listOf, nullOr, type Problem, text, type ValuesOf } from '../lib/rules.js'

/** `NAME -> GROUP as LEVEL`: people in the group of the directory are members of the group here. A directory makes nobody an owner. */
const SCIM_GRANT = /^(\S(?:\P{Cc}{0,253}\S)?) -> ([\w.-]{1,255}) as (guest|reporter|developer|master)$/u

export const SCIM = {
  /** The provider whose identities a directory knows: its `externalId` is the id of a person there. */
  provider: nullOr(text(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'the name of a provider')),
  members: listOf(text(SCIM_GRANT, 'texts such as "Engineering -> backend as developer"'))
}

/** Returns the problem of a provider that does not exist. */
export function scimProblems(scim: ValuesOf<typeof SCIM>, providers: readonly object[]): Problem[] {
  const { provider } = scim
  if (provider === null || provider === 'scim' || providers.some(some => Object.hasOwn(some, provider))) return []
  const path = 'identity.scim.provider'
  return [{ path, text: `${path} is ${provider}, which is neither in identity.oidc nor in identity.ldap` }]
}
