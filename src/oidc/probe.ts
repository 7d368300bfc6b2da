// Tries a provider as far as it can be tried without a person.
import { NoAnswer, ProviderRefusal, translated } from './failures.js'
import { readKeys } from './keys.js'
import { discover, type Provider } from './provider.js'
import { fetchFrom } from './request.js'

export interface Probed {
  /** The number of keys with which the provider may sign. */
  readonly keys: number
  /** Seconds by which its clock is ahead of the clock of this machine; null when its answers have no time. */
  readonly ahead: number | null
  /** Whether it ends sessions here when somebody signs out there. */
  readonly endsSessions: boolean
}

/**
 * Reads what the provider says about itself, and its keys. Throws ProviderAway and ProviderRefusal, also for a provider that supports
 * no sign-in as this appliance needs it.
 */
export async function probe(provider: Provider): Promise<Probed> {
  const client = await discover(provider)
  const about = client.serverMetadata()
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const) {
    if (about[name] === undefined) throw refusal(provider, `its discovery document has no ${name}`)
  }
  if (about.response_types_supported?.includes('code') === false) {
    throw refusal(provider, 'it does not support the response type code')
  }
  if (about.code_challenge_methods_supported?.includes('S256') === false) {
    throw refusal(provider, 'it does not support PKCE with S256')
  }
  const keys = await readKeys(provider)
  if (keys.length === 0) throw refusal(provider, 'it has no keys')
  return {
    keys: keys.length,
    ahead: await clockOf(provider, String(about.jwks_uri)),
    endsSessions: about.backchannel_logout_supported === true
  }
}

const refusal = ({ label }: Provider, reason: string) => new ProviderRefusal(`${label} is not set up correctly`, reason)

async function clockOf({ label, settings }: Provider, url: string): Promise<number | null> {
  try {
    const signal = AbortSignal.timeout(settings.timeout * 1000)
    const date = (await fetchFrom(settings)(url, { signal })).headers.get('date')
    const time = date === null ? Number.NaN : Date.parse(date)
    return Number.isNaN(time) ? null : Math.round((time - Date.now()) / 1000)
  } catch (error) {
    if (error instanceof NoAnswer) throw translated(error, label)
    throw error
  }
}
