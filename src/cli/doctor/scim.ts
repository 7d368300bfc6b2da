// Checks what a directory needs in order to manage accounts through SCIM.
import { missingGroups } from '../../areas/people/scim/memberships.js'
import { listScimTokens } from '../../areas/people/scim/scim-tokens.js'
import { config } from '../../config.js'
import { counted } from '../../lib/counted.js'
import { Ailment, type Check } from './check.js'

/** Time to make a new token, and to enter it in the directory. */
const WARN_MS = 14 * 86_400_000

export const scimCheck: Check = {
  name: 'scim',
  about: 'the groups of identity.scim.members exist, and the newest token of each directory is valid for 14 days',
  needs: 'rows',
  examine: async ({ now }) => {
    const { members } = config().identity.scim
    const tokens = (await listScimTokens()).filter(({ revoked_at }) => revoked_at === null)
    if (members.length + tokens.length === 0) return 'not needed: no directory has a token'
    const missing = (await missingGroups()).map(path => `no group has the path ${path}`)
    const newest = [...Map.groupBy(tokens, ({ name }) => name).values()].flatMap(([first]) => first ?? [])
    const ending = newest.flatMap(({ id, name, expires_at: end }) =>
      end !== null && end.getTime() - now.getTime() < WARN_MS
        ? [`the token ${id} (${name}) expires on ${end.toISOString().slice(0, 10)}`]
        : []
    )
    const [first, ...others] = [...missing, ...ending]
    if (first === undefined) return `${counted(newest.length, 'directory', 'directories')} with a token`
    const remedy =
      missing.length > 0
        ? 'create the group, or correct identity.scim.members in the configuration'
        : 'make a new token of the same name with gitstead scim tokens create, and revoke the old one'
    throw new Ailment(first, remedy, others)
  }
}
