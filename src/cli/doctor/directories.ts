// Tries each directory of identity.ldap as far as it can without a person.
import { config } from '../../config.js'
import { counted } from '../../lib/counted.js'
import { Ailment, type Check } from './check.js'

export const directoriesCheck: Check = {
  name: 'directories',
  about: 'each directory answers, its certificate is valid, and the service account finds people, if there are any',
  examine: async () => {
    const total = Object.keys(config().identity.ldap).length
    if (total === 0) return 'not needed: identity.ldap has no directories'
    // Loaded here, because the client for directories takes 50 ms.
    const { tryDirectories } = await import('../../areas/people/identity/ldap/trial.js')
    const faults = await tryDirectories()
    const [first] = faults
    if (!first)
      return `${counted(total, 'directory answers', 'directories answer')}, and the service account finds people`
    const details = faults.slice(1).map(({ found, remedy }) => `${found}: ${remedy}`)
    throw new Ailment(first.found, first.remedy, details)
  }
}
