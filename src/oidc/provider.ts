// What a provider says about itself: its discovery document, which is read when somebody first needs it and kept for a while. A
// provider that is away holds up nothing else: the start does not need it, and many sign-ins at once cause one request.
import type { Configuration } from 'openid-client'
import { isLoopback, type OidcSettings } from '../config/oidc.js'
import { config } from '../config.js'
import { NotFound } from '../errors.js'
import { lazily } from '../lib/plug.js'
import { translated } from './failures.js'
import { fetchFrom } from './request.js'

/** An older document is read again while it is still used. */
const FRESH_MS = 3_600_000
/** A provider that did not answer is asked again after this. */
const RETRY_MS = 5_000

export interface Provider {
  /** The name in the configuration, and of the provider in identities. */
  readonly name: string
  /** What people call it. */
  readonly label: string
  readonly settings: OidcSettings
}

const providerOf = (name: string, settings: OidcSettings): Provider => ({
  name,
  label: settings.label ?? name,
  settings
})

/** Returns the providers of the configuration, in its order. */
export const providers = (): Provider[] =>
  Object.entries(config().identity.oidc).map(([name, settings]) => providerOf(name, settings))

/** Throws NotFound when the configuration has no provider with this name. */
export function requireProvider(name: string): Provider {
  const { oidc } = config().identity
  const settings = Object.hasOwn(oidc, name) ? oidc[name] : undefined
  if (!settings) throw new NotFound('Provider')
  return providerOf(name, settings)
}

/** It takes 50 ms, and most processes never need it. */
export const library = lazily(() => import('openid-client'))

interface Kept {
  readonly client?: Configuration
  readonly freshUntil: number
  readonly running?: Promise<Configuration> | undefined
  readonly failure?: { readonly error: unknown; readonly until: number } | undefined
}

/** A changed configuration has other settings, so nothing is kept for too long. */
const kept = new WeakMap<OidcSettings, Kept>()

const keptOf = ({ settings }: Provider): Kept => kept.get(settings) ?? { freshUntil: 0 }
const keep = (provider: Provider, changes: Partial<Kept>) =>
  kept.set(provider.settings, { ...keptOf(provider), ...changes })

/** Returns what the provider says about itself. Throws ProviderAway and ProviderRefusal. */
export async function clientOf(provider: Provider): Promise<Configuration> {
  const { client, freshUntil, failure, running } = keptOf(provider)
  if (client && freshUntil > Date.now()) return client
  const failed = failure !== undefined && failure.until > Date.now()
  if (failed && !client) throw failure.error
  const reading = failed ? undefined : (running ?? read(provider))
  if (!client) return reading as Promise<Configuration>
  // The known document still serves. A failure is kept.
  reading?.catch(() => undefined)
  return client
}

function read(provider: Provider): Promise<Configuration> {
  const running = discover(provider).then(
    client => {
      keep(provider, { client, freshUntil: Date.now() + FRESH_MS, failure: undefined, running: undefined })
      return client
    },
    error => {
      keep(provider, { failure: { error, until: Date.now() + RETRY_MS }, running: undefined })
      throw error
    }
  )
  keep(provider, { running })
  return running
}

/** Reads the discovery document now. Throws ProviderAway and ProviderRefusal. */
export async function discover({ label, settings }: Provider): Promise<Configuration> {
  const { issuer, client_id, client_secret, client_auth, clock_skew, timeout } = settings
  const oidc = await library()
  const authenticate: typeof oidc.ClientSecretPost = () => (as, client, body, headers) => {
    if (client_secret === null) return oidc.None()(as, client, body, headers)
    // A provider that does not say what it supports supports this one.
    const basic = as.token_endpoint_auth_methods_supported?.includes('client_secret_basic') ?? true
    const isBasic = client_auth === null ? basic : client_auth === 'basic'
    return (isBasic ? oidc.ClientSecretBasic : oidc.ClientSecretPost)(client_secret)(as, client, body, headers)
  }
  const extras = [oidc.enableNonRepudiationChecks, ...(isLoopback(issuer) ? [oidc.allowInsecureRequests] : [])]
  try {
    const metadata = { [oidc.clockTolerance]: clock_skew }
    const options = { execute: extras, timeout, [oidc.customFetch]: fetchFrom(settings) as never }
    return await oidc.discovery(new URL(issuer), client_id, metadata, authenticate(), options)
  } catch (error) {
    throw translated(error, label)
  }
}
