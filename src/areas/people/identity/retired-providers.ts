// Providers that gave memberships or SSH keys and are no longer in the configuration. Nothing ends what they gave on its own: a wrong line in the
// configuration must not take rights from a whole company. `doctor` names them, and a command ends it.
import type { Origin } from '../../../access/actor.js'
import { config } from '../../../config.js'
import { rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Conflict } from '../../../errors.js'
import { stepsTo, takeSteps } from '../members/given-members.js'
import { keyStepsTo, takeKeySteps } from './given-keys.js'

export interface RetiredProvider {
  readonly provider: string
  /** The number of memberships and keys. */
  readonly gifts: number
}

/** Returns the providers that are not in the configuration and have given what still lasts, by name. */
export async function retiredProviders(): Promise<RetiredProvider[]> {
  const found = await rows<RetiredProvider>(
    `select provider, count(*) as gifts from (
       select provider from members where provider is not null union all select provider from ssh_keys where provider is not null
     ) g group by provider order by provider`
  )
  return found.filter(({ provider }) => !isConfigured(provider))
}

function isConfigured(provider: string): boolean {
  const { oidc, ldap, scim } = config().identity
  return (
    Object.hasOwn(oidc, provider) || Object.hasOwn(ldap, provider) || (provider === 'scim' && scim.members.length > 0)
  )
}

/** A membership of a group, or an SSH key. */
interface Gift {
  readonly user_id: number
  readonly username: string
  readonly kind: 'group' | 'key'
  /** The path of the group, or the title of the key. */
  readonly name: string
}

/** Returns what a provider gave, by user. */
export const givenBy = (provider: string): Promise<Gift[]> =>
  rows<Gift>(
    `select m.user_id, u.username, 'group' as kind, n.path as name from members m join users u on u.id = m.user_id
       join namespaces n on n.id = m.source_id where m.source_type = 'namespace' and m.provider = ?
     union all
     select k.user_id, u.username, 'key', k.title from ssh_keys k join users u on u.id = k.user_id where k.provider = ?
     order by user_id, kind, name`,
    [provider, provider]
  )

/**
 * Ends the memberships and removes the keys that a provider gave, each user's in one transaction, except that a group keeps its last owner. Returns what it
 * gave before. Throws Conflict for a provider that the configuration still has.
 */
export async function retireProvider(provider: string, origin: Origin): Promise<Gift[]> {
  if (isConfigured(provider)) throw new Conflict(`${provider} is in the configuration: remove it there first`)
  const given = await givenBy(provider)
  for (const { user_id: id, username } of new Map(given.map(each => [each.user_id, each])).values()) {
    await transact(async () => {
      await takeSteps(id, provider, await stepsTo(id, provider, new Map()), origin)
      await takeKeySteps({ id, username }, provider, await keyStepsTo(id, provider, []), origin)
    })
  }
  return given
}
