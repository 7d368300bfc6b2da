// Looks for mistakes in the rule for second factors that only the database shows: a group with a wrong path requires nothing of anybody.
import { missingGroups } from '../../areas/people/credentials/second-factor/duty.js'
import { config } from '../../config.js'
import { counted } from '../../lib/counted.js'
import { plainText } from '../../lib/display-width.js'
import { Ailment, type Check } from './check.js'

export const secondFactorsCheck: Check = {
  name: 'second_factors',
  about: 'the groups whose members must have a second factor exist',
  needs: 'rows',
  examine: async () => {
    const { groups } = config().identity.two_factor
    if (groups.length === 0) return 'not needed: identity.two_factor.groups is empty'
    const missing = await missingGroups(groups)
    if (missing.length === 0) return `${counted(groups.length, 'group')} of identity.two_factor.groups exist`
    throw new Ailment(
      `identity.two_factor.groups names ${counted(missing.length, 'group')} that ${missing.length === 1 ? 'does' : 'do'} not exist: nobody needs a second factor because of it`,
      'correct the paths in the configuration; a group that was renamed has another path',
      missing.map(plainText)
    )
  }
}
