// Tries the providers of OpenID Connect, as far as it is possible without a person.
import { config } from '../../config.js'
import { counted } from '../../lib/counted.js'
import { plainText } from '../../lib/display-width.js'
import { Ailment, type Check } from './check.js'

export const providersCheck: Check = {
  name: 'providers',
  about: 'each provider of OpenID Connect answers as configured, has keys, and its clock is right',
  examine: async () => {
    if (Object.keys(config().identity.oidc).length === 0) return 'not needed: identity.oidc has no providers'
    // Loaded here, because most commands need no provider.
    const [{ providers }, { probe }] = await Promise.all([
      import('../../oidc/provider.js'),
      import('../../oidc/probe.js')
    ])
    const found = await Promise.all(
      providers().map(async provider => {
        const { name, settings } = provider
        try {
          const { keys, ahead, endsSessions } = await probe(provider)
          // The time of an answer has no fractions, and the answer takes a moment.
          const isWrong = ahead !== null && Math.abs(ahead) > settings.clock_skew + 2
          if (isWrong) return { name, problem: `its clock differs by ${ahead} seconds: set both clocks with NTP` }
          return { name, says: `${counted(keys, 'key')}${endsSessions ? ', ends sessions' : ''}` }
        } catch (error) {
          const { message, reason } = error as Error & { reason?: string }
          return { name, problem: plainText(reason ?? message) }
        }
      })
    )
    const wrong = found.filter(({ problem }) => problem !== undefined)
    if (wrong.length === 0) return found.map(({ name, says }) => `${name} answers (${says})`).join(', ')
    throw new Ailment(
      `${counted(wrong.length, 'provider')} of ${found.length} cannot sign anybody in`,
      'compare identity.oidc in the configuration with the discovery document of the provider, ISSUER/.well-known/openid-configuration',
      wrong.map(({ name, problem }) => `${name}: ${problem}`)
    )
  }
}
