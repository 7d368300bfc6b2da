// Looks whether somebody can administer the appliance.
import { firstLink } from '../../areas/reach/accounts/first-administrator.js'
import type { Check } from './check.js'

export const administratorCheck: Check = {
  name: 'administrator',
  about: 'says whether there is an administrator',
  needs: 'rows',
  // Not specified: a new appliance without users is in order.
  examine: async () =>
    (await firstLink()) === null
      ? 'there is one'
      : { found: 'there is none yet', next: 'make the first administrator: gitstead users first-link' }
}
