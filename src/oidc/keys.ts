// The keys with which a provider signs.
import { translated } from './failures.js'
import { clientOf, type Provider } from './provider.js'
import { fetchFrom } from './request.js'

/** Keys are read again after this, or when a token names an unknown one. */
const FRESH_MS = 300_000
/** Strangers can send tokens with unknown keys, so they cause a request only this often. */
const PAUSE_MS = 60_000

export interface Key {
  readonly kty?: string
  readonly crv?: string
  readonly kid?: string
  readonly use?: string
  readonly alg?: string
  readonly [name: string]: unknown
}

const kept = new WeakMap<Provider['settings'], { readonly keys: readonly Key[]; readonly at: number }>()

/** Returns the keys that may have signed a token. Throws ProviderAway and ProviderRefusal. */
export async function keysFor(provider: Provider, kid: string | undefined): Promise<readonly Key[]> {
  const known = kept.get(provider.settings)
  const age = known ? Date.now() - known.at : Number.POSITIVE_INFINITY
  const found = known?.keys.filter(key => fits(key, kid)) ?? []
  if (age < PAUSE_MS || (found.length > 0 && age < FRESH_MS)) return found
  const keys = await readKeys(provider)
  kept.set(provider.settings, { keys, at: Date.now() })
  return keys.filter(key => fits(key, kid))
}

const fits = (key: Key, kid: string | undefined) =>
  (kid === undefined || key.kid === kid) && (key.use ?? 'sig') === 'sig'

/** Reads the keys now. Throws ProviderAway and ProviderRefusal. */
export async function readKeys(provider: Provider): Promise<readonly Key[]> {
  const { jwks_uri: uri } = (await clientOf(provider)).serverMetadata()
  try {
    if (uri === undefined) throw new Error('its discovery document has no jwks_uri')
    const signal = AbortSignal.timeout(provider.settings.timeout * 1000)
    const answer = await fetchFrom(provider.settings)(uri, { signal, headers: { accept: 'application/json' } })
    if (answer.status !== 200) throw new Error(`its keys are answered with status ${answer.status}`)
    const { keys } = (await answer.json()) as { keys?: unknown }
    if (!Array.isArray(keys)) throw new Error('its keys are not a list')
    return keys.filter(key => typeof key === 'object' && key !== null)
  } catch (error) {
    throw translated(error, provider.label)
  }
}
