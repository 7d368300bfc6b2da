// Looks for rights that nothing ends any more.
import { retiredProviders } from '../../areas/people/identity/retired-providers.js'
import { counted } from '../../lib/counted.js'
import { plainText } from '../../lib/display-width.js'
import { Ailment, type Check } from './check.js'

export const retiredProvidersCheck: Check = {
  name: 'given_rights',
  about: 'the providers and directories that gave memberships or SSH keys are still in the configuration',
  needs: 'rows',
  examine: async () => {
    const retired = await retiredProviders()
    const [first] = retired
    if (!first) return 'no membership and no SSH key comes from a provider that is gone'
    throw new Ailment(
      `${counted(retired.length, 'provider')} that gave memberships or keys ${retired.length === 1 ? 'is' : 'are'} not in the configuration`,
      `correct the name in the configuration, or take them back: gitstead identities retire ${plainText(first.provider)}`,
      retired.map(({ provider, gifts }) => `${plainText(provider)}: ${gifts}`)
    )
  }
}
